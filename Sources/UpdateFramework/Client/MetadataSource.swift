import Synchronization
public import VaultBase

/// The source of a site's metadata: a host or a folder. It is not trusted.
public protocol MetadataSource: Sendable {
    /// A file in the site's folder of metadata, such as `timestamp.json` or `7.snapshot.json`.
    ///
    /// - Returns: nil when the source has no such file, as with the HTTP statuses 403 and 404.
    /// - Throws: `untrusted` for more than `limit` bytes, `unavailable` when the source can't be reached or fails.
    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]?

    /// The file in errors, such as its URL; by default its name.
    func place(of name: String) -> String
}

extension MetadataSource {
    public func place(of name: String) -> String { name }

    /// A file, also of a source that ignores the limit: that throws `untrusted`.
    func limitedMetadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        let bytes = try await metadata(named: name, limit: limit)
        if let bytes, bytes.count > limit { throw .oversized(limit: limit, at: place(of: name)) }
        return bytes
    }

    /// One version of a role's file, its signatures not verified; nil when the source does not have it.
    public func metadata(
        of role: MetadataRole, version: Int64
    ) async throws(VaultError) -> UnverifiedMetadata? {
        let name = role.hostedName(version: version)
        guard let bytes = try await limitedMetadata(named: name, limit: role.sizeLimit) else { return nil }
        return try UnverifiedMetadata(parsing: bytes, as: role, place: place(of: name))
    }

    /// The same, where another version in the file than in its name throws `untrusted`.
    public func metadata(
        of role: MetadataRole, statingVersion version: Int64
    ) async throws(VaultError) -> UnverifiedMetadata? {
        guard let metadata = try await metadata(of: role, version: version) else { return nil }
        guard metadata.document.version == version else {
            throw .inconsistentMetadata(
                "its version is \(metadata.document.version)",
                at: place(of: role.hostedName(version: version)))
        }
        return metadata
    }
}

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
