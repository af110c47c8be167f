import Synchronization
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

/// Stores nothing; has only the initial files, until a later root lets clients forget them.
final class InMemoryTrust: TrustStorage {
    private let files: Mutex<[MetadataRole: [UInt8]]>
    private let rootVersion: Int64

    /// - Parameter rootVersion: the version of the root under which the files were verified.
    init(files: [MetadataRole: [UInt8]] = [:], underRoot rootVersion: Int64 = 0) {
        self.files = Mutex(files)
        self.rootVersion = rootVersion
    }

    /// The state of a client that has verified `chain`.
    convenience init(of chain: TrustChain?) {
        if let chain {
            self.init(
                files: [.timestamp: chain.timestamp.bytes, .snapshot: chain.snapshot.bytes],
                underRoot: chain.root.version)
        } else {
            self.init()
        }
    }

    func stored(_ role: MetadataRole) -> [UInt8]? { files.withLock { $0[role] } }

    func store(_ new: some VerifiedMetadata, insteadOf old: [UInt8]?, under root: VerifiedRoot) -> Bool {
        true
    }

    func store(_ new: VerifiedRoot, after old: VerifiedRoot) -> Bool {
        if new.version > rootVersion, new.resetsVersions(since: old) {
            files.withLock {
                $0[.timestamp] = nil
                $0[.snapshot] = nil
            }
        }
        return true
    }
}
