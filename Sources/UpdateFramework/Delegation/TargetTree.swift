public import VaultErrors

/// All metadata of a site: its chain of trust, and every delegated role.
///
/// A delegated role that fails verification affects only the paths that it may list.
public struct TargetTree: Sendable {
    /// A delegated role that failed verification, and why.
    public struct Refusal: Sendable {
        public let role: MetadataRole
        public let error: VaultError
    }

    public let chain: TrustChain
    let roles: [DelegationStep: Result<VerifiedTargets, VaultError>]

    init(_ chain: TrustChain, roles: [DelegationStep: Result<VerifiedTargets, VaultError>] = [:]) {
        self.chain = chain
        self.roles = roles
    }

    /// The verified delegated roles, sorted by name; each once, whoever delegates to it.
    public var delegatedRoles: [VerifiedTargets] {
        let verified = roles.values.compactMap { try? $0.get() }.map { ($0.document.role, $0) }
        return Dictionary(verified) { first, _ in first }.values.sorted {
            $0.document.role < $1.document.role
        }
    }

    /// The verified roles that list targets: the top-level one, then the delegated ones.
    public var targetsRoles: [VerifiedTargets] { [chain.targets] + delegatedRoles }

    public var refusals: [Refusal] {
        roles.compactMap { step, result in
            guard case .failure(let error) = result else { return nil }
            return Refusal(role: step.delegation.role, error: error)
        }.sorted { $0.role < $1.role }
    }

    /// Looks a path up as TUF clients do (TUF section 5.6.7).
    ///
    /// - Returns: nil if no role authorised for the path lists it.
    /// - Throws: `untrusted` when a role on the way failed verification.
    public func record(at path: String) throws(VaultError) -> TargetRecord? {
        var search = TargetSearch(for: path, in: chain.targets)
        while let step = try search.next() {
            guard let role = roles[step] else { return nil }
            search.visit(try role.get())
        }
        return search.found
    }

    /// The roles that a look-up of a path visits, in order.
    public func rolesVisited(for path: String) -> [VerifiedTargets] {
        var visited = [chain.targets]
        var search = TargetSearch(for: path, in: chain.targets)
        while let step = try? search.next(), let role = try? roles[step]?.get() {
            search.visit(role)
            visited.append(role)
        }
        return visited
    }

    /// Every record that a look-up of its path finds, sorted by the bytes of the path. Entries outside a role's delegated
    /// paths are left out.
    public var records: [TargetRecord] {
        guard !roles.isEmpty else { return chain.targets.records }
        var records = chain.targets.records
        for role in delegatedRoles {
            for record in role.records {
                guard let found = try? self.record(at: record.path), found == record else { continue }
                records.append(found)
            }
        }
        records.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        // Several roles may list the same record.
        return records.reduce(into: []) { files, record in
            if files.last?.path.utf8.elementsEqual(record.path.utf8) != true { files.append(record) }
        }
    }
}
