import Synchronization
import VaultErrors

/// What the workflow believes from earlier, and where it keeps what it has verified.
protocol TrustStorage: Sendable {
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

/// Keeps nothing; knows only what it was given, until a later root lets clients forget that.
final class InMemoryTrust: TrustStorage {
    private let files: Mutex<[MetadataRole: [UInt8]]>
    private let rootVersion: Int64

    /// - Parameter rootVersion: the root under which the files were verified.
    init(files: [MetadataRole: [UInt8]] = [:], underRoot rootVersion: Int64 = 0) {
        self.files = Mutex(files)
        self.rootVersion = rootVersion
    }

    /// What a client trusts that has seen this.
    convenience init(of chain: TrustChain?) {
        if let chain {
            self.init(
                files: [.timestamp: chain.timestamp.bytes, .snapshot: chain.snapshot.bytes],
                underRoot: chain.root.version)
        } else {
            self.init()
        }
    }

    func kept(_ role: MetadataRole) -> [UInt8]? { files.withLock { $0[role] } }

    func keep(_ new: some VerifiedMetadata, insteadOf old: [UInt8]?, under root: VerifiedRoot) -> Bool {
        true
    }

    func keep(_ new: VerifiedRoot, after old: VerifiedRoot) -> Bool {
        if new.version > rootVersion, new.resetsVersions(since: old) {
            files.withLock {
                $0[.timestamp] = nil
                $0[.snapshot] = nil
            }
        }
        return true
    }
}
