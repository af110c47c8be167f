public import VaultErrors

/// All that a site lists: its chain of trust, and every role that its targets delegate to.
///
/// A delegated role that can't be believed spoils what it alone may list, and nothing else.
public struct TargetTree: Sendable {
    /// A delegated role that is not believed, and why.
    public struct Refusal: Sendable {
        public let role: MetadataRole
        public let error: VaultError
    }

    public let chain: TrustChain
    private let roles: [TargetSearch.Step: Result<VerifiedTargets, VaultError>]

    init(_ chain: TrustChain, roles: [TargetSearch.Step: Result<VerifiedTargets, VaultError>] = [:]) {
        self.chain = chain
        self.roles = roles
    }

    /// The delegated roles that are believed, by their names; each once, whoever delegates to it.
    public var delegatedRoles: [VerifiedTargets] {
        let believed = roles.values.compactMap { try? $0.get() }.map { ($0.document.role, $0) }
        return Dictionary(believed) { first, _ in first }.values.sorted {
            $0.document.role < $1.document.role
        }
    }

    public var refusals: [Refusal] {
        roles.compactMap { step, result in
            guard case .failure(let error) = result else { return nil }
            return Refusal(role: step.delegation.role, error: error)
        }.sorted { $0.role < $1.role }
    }

    /// Looks a path up as every client of the framework does (section 5.6.7).
    ///
    /// - Returns: nil when nobody who may list the path does.
    /// - Throws: `untrusted` when a role on the way is not believed.
    public func record(at path: String) throws(VaultError) -> TargetRecord? {
        var search = TargetSearch(for: path, in: chain.targets)
        while let step = try search.next() {
            guard let role = roles[step] else { return nil }
            search.visit(try role.get())
        }
        return search.found
    }

    /// The roles that a look-up of a path asks, in their order: down to the one that lists it, or all that may.
    public func rolesAsked(for path: String) -> [VerifiedTargets] {
        var asked = [chain.targets]
        var search = TargetSearch(for: path, in: chain.targets)
        while let step = try? search.next(), let role = try? roles[step]?.get() {
            search.visit(role)
            asked.append(role)
        }
        return asked
    }

    /// Every record that a look-up of its path finds, sorted by the bytes of the path. What a role lists without being
    /// asked for it is not among them.
    public var records: [TargetRecord] {
        guard !roles.isEmpty else { return chain.targets.records }
        var records = chain.targets.records
        for role in delegatedRoles {
            for record in role.records {
                guard let found = try? self.record(at: record.path), found == record else { continue }
                records.append(record)
            }
        }
        records.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        // What several roles list in the same words is one file.
        return records.reduce(into: []) { files, record in
            if files.last?.path.utf8.elementsEqual(record.path.utf8) != true { files.append(record) }
        }
    }
}
