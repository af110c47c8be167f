/// Which versions of delegated roles a look-up accepts.
public enum AcceptedRoles: Sendable {
    /// The one that the snapshot lists, as TUF section 5.6.7 demands of everything that is downloaded.
    case listed
    /// Where that one can't be had, an earlier one that this store verified and kept: enough for what is already loaded. A
    /// source can't offer it.
    case lastVerified
}
