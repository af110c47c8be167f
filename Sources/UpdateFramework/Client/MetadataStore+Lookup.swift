public import VaultErrors

extension MetadataStore {
    /// Looks a path up, also in delegated roles (TUF section 5.6.7); only the roles on the way are read.
    ///
    /// - Parameter chain: the result of ``refresh(from:trusting:now:)``.
    /// - Returns: nil if no role authorised for the path lists it.
    /// - Throws: `untrusted` when a role on the way fails verification, `unavailable`, `busy`, `io`.
    public func target(
        at path: String, in chain: TrustChain, from source: any MetadataSource, now: UTCTime,
        accepting version: AcceptedRoleVersion = .listed
    ) async throws(VaultError) -> TargetRecord? {
        try await TrustWorkflow(source: source, storage: self, now: now, acceptedRoleVersion: version).search(
            for: path, in: chain
        ).found
    }

    /// The roles that the look-up of a path visits, in order. Throws as ``target(at:in:from:now:)`` does.
    public func rolesVisited(
        for path: String, in chain: TrustChain, from source: any MetadataSource, now: UTCTime,
        accepting version: AcceptedRoleVersion = .listed
    ) async throws(VaultError) -> [VerifiedTargets] {
        try await TrustWorkflow(source: source, storage: self, now: now, acceptedRoleVersion: version).search(
            for: path, in: chain
        ).visited
    }

    /// Reads all delegated roles of a site.
    ///
    /// - Throws: `untrusted` when there are too many roles; refusals of single roles are recorded in the tree.
    public func tree(
        of chain: TrustChain, from source: any MetadataSource, now: UTCTime,
        accepting version: AcceptedRoleVersion = .listed
    ) async throws(VaultError) -> TargetTree {
        try await TrustWorkflow(source: source, storage: self, now: now, acceptedRoleVersion: version).tree(
            of: chain)
    }
}
