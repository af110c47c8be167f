/// Which version of a delegated role a look-up accepts.
public enum AcceptedRoleVersion: Sendable {
    /// The one that the snapshot lists, as TUF section 5.6.7 requires of everything that is downloaded.
    case listed
    /// Where that one can't be had, an earlier one that this store verified and kept: enough for what is already loaded. It is
    /// read from the store only, so that no host can offer an old one.
    case lastVerified
}
