import VaultErrors

/// What the workflow believes from earlier, and where it keeps what it has verified.
protocol TrustKeeper: Sendable {
    /// The role's file that was kept last, if any. It is verified again before it is believed.
    func kept(_ role: MetadataRole) throws(VaultError) -> [UInt8]?

    /// Keeps verified metadata in place of `old`. False when somebody else changed what is kept, so that the
    /// workflow must begin again.
    func keep(
        _ new: some VerifiedMetadata, insteadOf old: [UInt8]?, under root: VerifiedRoot
    ) async throws(VaultError) -> Bool

    /// Keeps the successor of a root.
    func keep(_ new: VerifiedRoot, after old: VerifiedRoot) async throws(VaultError) -> Bool
}

/// Keeps nothing; knows only what it was given.
struct TransientTrust: TrustKeeper {
    var files: [MetadataRole: [UInt8]] = [:]

    func kept(_ role: MetadataRole) -> [UInt8]? { files[role] }

    func keep(_ new: some VerifiedMetadata, insteadOf old: [UInt8]?, under root: VerifiedRoot) -> Bool {
        true
    }

    func keep(_ new: VerifiedRoot, after old: VerifiedRoot) -> Bool { true }
}
