import VaultErrors

/// The metadata trusted so far, and the storage of newly verified metadata.
protocol TrustStorage: Sendable {
    /// The stored file of a role, if any. It is verified again before it is trusted.
    func stored(_ role: MetadataRole) throws(VaultError) -> [UInt8]?

    /// Stores verified metadata in place of `old`. False when another process changed what is stored: then the workflow
    /// must start again.
    func store(
        _ new: some VerifiedMetadata, insteadOf old: [UInt8]?, under root: VerifiedRoot
    ) async throws(VaultError) -> Bool

    /// Stores the successor of a root.
    func store(_ new: VerifiedRoot, after old: VerifiedRoot) async throws(VaultError) -> Bool
}
