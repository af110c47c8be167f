public import VaultBase

/// The metadata of a site that its clients remember: the timestamp and the snapshot, and the root under which these were verified.
/// Clients refuse older metadata (TUF sections 5.4.3 and 5.5.5).
public struct SeenMetadata: Sendable {
    public let timestamp: VerifiedTimestamp
    /// Nil if the site does not have it, or has another file in its place: then no client has seen it.
    public let snapshot: VerifiedSnapshot?
    public let root: VerifiedRoot

    /// Reads the timestamp of a site, and its snapshot; whether they have expired does not matter. Nil where there is no timestamp.
    ///
    /// - Parameter roots: the site's roots, lowest first. The newest counts that verifies the timestamp.
    /// - Throws: `untrusted` for a timestamp that no root verifies, and what the source throws.
    public init?(in source: any MetadataSource, under roots: [VerifiedRoot]) async throws(VaultError) {
        let role = MetadataRole.timestamp
        guard let bytes = try await source.metadata(named: role.fileName, limit: role.sizeLimit) else {
            return nil
        }
        let place = source.place(of: role.fileName)
        let metadata = try UnverifiedMetadata(parsing: bytes, as: role, place: place)
        let verified = roots.lazy.reversed().compactMap { root in
            (try? VerifiedTimestamp(verifying: metadata, under: root)).map { (root: root, timestamp: $0) }
        }.first
        guard let verified else {
            throw .unsigned("none of the site's roots names the keys that signed it", at: place)
        }
        (root, timestamp) = verified
        snapshot = try await Self.snapshot(of: timestamp, under: root, in: source)
    }

    private static func snapshot(
        of timestamp: VerifiedTimestamp, under root: VerifiedRoot, in source: any MetadataSource
    ) async throws(VaultError) -> VerifiedSnapshot? {
        let role = MetadataRole.snapshot
        let name = root.hostedName(role, version: timestamp.snapshot.version)
        guard let bytes = try await source.metadata(named: name, limit: role.sizeLimit) else { return nil }
        let place = source.place(of: name)
        do throws(VaultError) {
            try timestamp.snapshot.check(bytes, at: place)
            return try VerifiedSnapshot(
                verifying: UnverifiedMetadata(parsing: bytes, as: role, place: place), under: root)
        } catch {
            return nil
        }
    }

    /// Throws `untrusted` for a rollback: where clients that have seen this refuse the newer one.
    public func requireNotOlder(_ newer: SeenMetadata) throws(VaultError) {
        try newer.timestamp.requireNotOlder(than: timestamp)
        if let snapshot { try newer.snapshot?.requireNothingOlder(than: snapshot) }
    }
}
