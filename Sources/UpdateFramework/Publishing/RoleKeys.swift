public import VaultCrypto

/// The keys that may sign for a role, and how many of them must.
public struct RoleKeys: Sendable, Hashable {
    public var keys: [Ed25519PublicKey]
    /// From 1 on.
    public var threshold: Int

    public init(_ keys: [Ed25519PublicKey], threshold: Int = 1) {
        self.keys = keys
        self.threshold = threshold
    }
}
