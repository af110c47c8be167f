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
        let pinned: VerifiedRoot
        if let pinnedRoot {
            pinned = pinnedRoot
        } else {
            guard let root = try await source.metadata(of: .root, version: 1) else {
                throw VaultError(
                    .unavailable, "the site's first root is missing", at: source.place(of: first),
                    remedy: "check the URL or path; a site keeps all its roots, a team's own site has none",
                    code: "missing-root")
            }
            pinned = try VerifiedRoot(pinning: root)
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
