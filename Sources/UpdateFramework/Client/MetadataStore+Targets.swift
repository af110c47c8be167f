public import VaultErrors

extension MetadataStore {
    /// Looks a path up, also in the roles that targets are delegated to (section 5.6.7); only those on its way are read.
    ///
    /// - Parameter chain: what ``refresh(from:trusting:now:)`` gave.
    /// - Returns: nil when nobody who may list the path does.
    /// - Throws: `untrusted` when a role on the way can't be believed, `unavailable`, `busy`, `io`.
    public func target(
        at path: String, in chain: TrustChain, from source: any MetadataSource, now: UTCTime
    ) async throws(VaultError) -> TargetRecord? {
        try await TrustWorkflow(source: source, keeper: self, now: now).target(at: path, in: chain)
    }

    /// Reads everything that a site lists.
    ///
    /// - Throws: `untrusted` when there are too many roles; what is wrong with one of them stands in the tree.
    public func tree(
        of chain: TrustChain, from source: any MetadataSource, now: UTCTime
    ) async throws(VaultError) -> TargetTree {
        try await TrustWorkflow(source: source, keeper: self, now: now).tree(of: chain)
    }
}
