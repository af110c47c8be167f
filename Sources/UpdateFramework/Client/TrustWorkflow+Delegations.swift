import VaultConcurrency
import VaultErrors

extension TrustWorkflow {
    /// The maximum number of delegated roles of one site.
    static let roleLimit = 1 << 15
    /// The number of roles that are read concurrently.
    private static let parallelism = 8

    /// Looks a path up, and reads only the roles on the way.
    func search(for path: String, in chain: TrustChain) async throws(VaultError) -> (
        found: TargetRecord?, visited: [VerifiedTargets]
    ) {
        var visited = [chain.targets]
        var search = TargetSearch(for: path, in: chain.targets)
        while let step = try search.next() {
            let role = await store(try await delegated(step, of: chain), of: chain)
            search.visit(role)
            visited.append(role)
        }
        return (search.found, visited)
    }

    /// A role that the top-level targets delegate to; nil where they don't.
    func role(_ role: MetadataRole, in chain: TrustChain) async throws(VaultError) -> VerifiedTargets? {
        guard let step = chain.targets.delegationSteps.first(where: { $0.delegation.role == role }) else {
            return nil
        }
        return await store(try await delegated(step, of: chain), of: chain)
    }

    /// Reads every delegated role, level by level.
    func tree(of chain: TrustChain) async throws(VaultError) -> TargetTree {
        var roles: [DelegationStep: Result<VerifiedTargets, VaultError>] = [:]
        var level = chain.targets.delegationSteps
        while !level.isEmpty {
            guard roles.count + level.count <= Self.roleLimit else {
                throw .malformedMetadata(
                    "more than \(Self.roleLimit) roles are delegated to", at: MetadataRole.targets.fileName)
            }
            var next: [DelegationStep] = []
            try await read(level, of: chain) { step, result in
                roles[step] = result
                if case .success(let targets) = result { next += targets.delegationSteps }
            }
            var known = Set(roles.keys)
            level = next.filter { known.insert($0).inserted }
        }
        return TargetTree(chain, roles: roles)
    }

    /// Reads several roles concurrently, and stores them one by one, since a store has one lock.
    private func read(
        _ steps: [DelegationStep], of chain: TrustChain,
        deliver: (DelegationStep, Result<VerifiedTargets, VaultError>) -> Void
    ) async throws(VaultError) {
        try await runInOrder(
            steps, width: Self.parallelism,
            work: { step in
                (step, await outcome { () throws(VaultError) in try await delegated(step, of: chain) })
            },
            deliver: { step, result in
                switch result {
                case .success(let role): deliver(step, .success(await store(role, of: chain)))
                case .failure(let error): deliver(step, .failure(error))
                }
            })
    }
}
