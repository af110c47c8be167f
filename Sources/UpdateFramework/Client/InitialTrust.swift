import Synchronization

/// Keeps only the files it was given: `store` discards new metadata. A root that revokes a timestamp or snapshot key
/// drops both, since their versions no longer count (TUF 5.3.11).
final class InitialTrust: TrustStorage {
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
