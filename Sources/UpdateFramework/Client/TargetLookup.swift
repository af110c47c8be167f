public import VaultBase

/// Looks targets up in the delegated roles of a site (TUF section 5.6.7).
public struct TargetLookup: Sendable {
    private let workflow: TrustWorkflow

    init(_ workflow: TrustWorkflow) { self.workflow = workflow }

    /// Looks a path up; only the roles on the way are read.
    ///
    /// - Returns: nil if no role authorised for the path lists it.
    /// - Throws: `untrusted` when a role on the way fails verification, `unavailable`, `busy`, `io`.
    public func target(at path: String, in chain: TrustChain) async throws(VaultError) -> TargetRecord? {
        try await workflow.search(for: path, in: chain).found
    }

    /// The roles that the look-up of a path visits, in order. Throws as ``target(at:in:)`` does.
    public func rolesVisited(
        for path: String, in chain: TrustChain
    ) async throws(VaultError) -> [VerifiedTargets] {
        try await workflow.search(for: path, in: chain).visited
    }

    /// A role that the top-level targets delegate to; nil where they don't. Throws as ``target(at:in:)`` does.
    public func role(_ role: MetadataRole, in chain: TrustChain) async throws(VaultError) -> VerifiedTargets?
    {
        try await workflow.role(role, in: chain)
    }

    /// Reads all delegated roles of a site.
    ///
    /// - Throws: `untrusted` when there are too many roles; refusals of single roles are recorded in the tree.
    public func tree(of chain: TrustChain) async throws(VaultError) -> TargetTree {
        try await workflow.tree(of: chain)
    }
}

extension MetadataStore {
    /// Looks up in the roles that are stored, and stores those that come from the source.
    ///
    /// - Parameter source: where the chain came from; see ``refresh(from:trusting:now:)``.
    public func lookup(from source: any MetadataSource, now: UTCTime) -> TargetLookup {
        TargetLookup(TrustWorkflow(source: source, storage: self, now: now))
    }
}
