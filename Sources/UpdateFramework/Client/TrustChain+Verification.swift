public import VaultBase

extension TrustChain {
    /// Verifies a site from its root, and stores nothing, as for an audit.
    ///
    /// - Parameters:
    ///   - pinnedRoot: a root that the caller trusts. Without one the site's own `1.root.json` is used: then the
    ///     chain shows that the site is consistent, but not whose it is.
    ///   - now: the time at which nothing may have expired.
    /// - Throws: `untrusted` for any refusal, `unavailable` when the source fails or a file is missing.
    public static func verifying(
        _ source: any MetadataSource, pinnedRoot: VerifiedRoot?, now: UTCTime
    ) async throws(VaultError) -> TrustChain {
        try await verifying(source, pinnedRoot: pinnedRoot, now: now, notBefore: InitialTrust())
    }

    static func verifying(
        _ source: any MetadataSource, pinnedRoot: VerifiedRoot?, now: UTCTime, notBefore trust: InitialTrust
    ) async throws(VaultError) -> TrustChain {
        let first = MetadataRole.root.hostedName(version: 1)
        let limit = MetadataRole.root.sizeLimit
        let pinned: VerifiedRoot
        if let pinnedRoot {
            pinned = pinnedRoot
        } else {
            guard let bytes = try await source.metadata(named: first, limit: limit) else {
                throw VaultError(
                    .unavailable, "the site's first root is missing", at: source.place(of: first),
                    remedy: "check the URL or path; a site keeps all its roots, a team's own site has none",
                    code: "missing-root")
            }
            guard bytes.count <= limit else { throw .oversized(limit: limit, at: first) }
            pinned = try VerifiedRoot(
                pinning: UnverifiedMetadata(parsing: bytes, as: .root, place: first))
        }
        let workflow = TrustWorkflow(source: source, storage: trust, now: now)
        guard let roots = try await workflow.newestRoot(after: RootChain(from: pinned)),
            let chain = try await workflow.chain(under: roots.newest)
        else { throw .overtaken(at: first) }
        return chain
    }
}

extension TargetTree {
    /// Verifies a site as ``TrustChain/verifying(_:pinnedRoot:now:)`` does, and reads all delegated roles.
    public static func verifying(
        _ source: any MetadataSource, pinnedRoot: VerifiedRoot?, now: UTCTime
    ) async throws(VaultError) -> TargetTree {
        let chain = try await TrustChain.verifying(source, pinnedRoot: pinnedRoot, now: now)
        return try await TrustWorkflow(source: source, storage: InitialTrust(), now: now).tree(of: chain)
    }
}

extension VaultError {
    static func overtaken(at place: String) -> VaultError {
        VaultError(
            .busy, "other programs keep changing the trusted metadata", at: place,
            remedy: "try again when they are done")
    }
}

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
