/// An argument or an action that a remedy speaks of. Each program has its own words for it, such as an option's name.
public enum Hint: Sendable, Hashable {
    /// The root file that pins a site.
    case trustedRoot
    /// Leave to replace an existing file.
    case replacing
    /// Packing what symbolic links lead to.
    case followingLinks
    /// A higher limit for what an archive unpacks to.
    case unpackingLimit
    /// A manifest, or a site and its root, to check a pack against.
    case evidence
    /// Removing from a site what nobody needs any more.
    case pruning
    /// The same, also of the versions that could be restored.
    case pruningToLastVersions
    /// Putting an earlier version live that only removed keys have signed.
    case acceptingRemovedKeys
    /// Promoting a lower version than the one that is listed.
    case allowingOlder
    /// Listing the sources of a channel again that was restored.
    case releasing(String)
    /// Going on from what the host has, without the published packs.
    case publishingFromHost
    /// Signing a file where the keys are kept.
    case signing
    /// Replacing the key of a role, in a vault.
    case rotation(role: String, vault: String)
    case makingVaultKey
    case publishing
    case makingVault
    /// The limit of what all programs may have in access at a time.
    case accessLimit
    /// The key of a pack, which waits for it.
    case givingKey
    /// Opening packs that a store keeps sealed.
    case openingPacks([String], store: [String])
    /// The passphrase of a signing key.
    case passphrase
}
