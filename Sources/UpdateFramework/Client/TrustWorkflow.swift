import VaultBase

/// The client's workflow (TUF section 5) over any source and storage. Verified files are stored one by one, so that a
/// failure keeps earlier ones.
struct TrustWorkflow {
    let source: any MetadataSource
    let storage: any TrustStorage
    let now: UTCTime

    /// Follows the known roots to the newest (TUF section 5.3), as far as one refresh may; the next one continues. Nil when the storage
    /// changed meanwhile.
    func newestRoot(after known: RootChain) async throws(VaultError) -> RootChain? {
        var roots = known
        for _ in 0..<RootHistory.limit {
            let old = roots.newest
            let role = MetadataRole.root
            let name = role.hostedName(version: old.version + 1)
            guard let bytes = try await source.limitedMetadata(named: name, limit: role.sizeLimit) else {
                break
            }
            try roots.append(bytes, at: source.place(of: name))
            guard try await storage.store(roots.newest, after: old) else { return nil }
        }
        return roots
    }

    /// From the newest root to the targets (sections 5.3.10 to 5.6). Nil when the storage changed meanwhile.
    func chain(under root: VerifiedRoot) async throws(VaultError) -> TrustChain? {
        let atRoot = try TrustChain.AtRoot(root, now: now)
        guard let atTimestamp = try await timestamp(atRoot),
            let atSnapshot = try await snapshot(atTimestamp)
        else { return nil }
        return try await targets(atSnapshot)
    }

    private func timestamp(_ chain: TrustChain.AtRoot) async throws(VaultError) -> TrustChain.AtTimestamp? {
        let old = try storage.stored(.timestamp)
        let trusted = parsed(old, .timestamp).flatMap {
            try? VerifiedTimestamp(verifying: $0, under: chain.root)
        }
        let name = MetadataRole.timestamp.fileName
        let bytes = try await require(name, limit: MetadataRole.timestamp.sizeLimit)
        let metadata = try UnverifiedMetadata(parsing: bytes, as: .timestamp, place: source.place(of: name))
        let next = try chain.timestamp(metadata, after: trusted)
        return try await store(next.timestamp, insteadOf: old, under: chain.root) ? next : nil
    }

    private func snapshot(_ chain: TrustChain.AtTimestamp) async throws(VaultError) -> TrustChain.AtSnapshot?
    {
        let old = try storage.stored(.snapshot)
        let kept = parsed(old, .snapshot)
        if let kept, let next = try? chain.snapshot(kept, after: nil) { return next }
        let trusted = kept.flatMap { try? VerifiedSnapshot(verifying: $0, under: chain.root) }
        let metadata = try await metadata(.snapshot, chain.timestamp.snapshot, under: chain.root)
        let next = try chain.snapshot(metadata, after: trusted)
        return try await store(next.snapshot, insteadOf: old, under: chain.root) ? next : nil
    }

    private func targets(_ chain: TrustChain.AtSnapshot) async throws(VaultError) -> TrustChain? {
        let old = try storage.stored(.targets)
        if let kept = parsed(old, .targets, listedAs: chain.snapshot.targets),
            let whole = try? chain.targets(kept)
        {
            return whole
        }
        let metadata = try await metadata(.targets, chain.snapshot.targets, under: chain.root)
        let whole = try chain.targets(metadata)
        return try await store(whole.targets, insteadOf: old, under: chain.root) ? whole : nil
    }

    /// A verified delegated role, and the stored file that it replaces.
    struct DelegatedRole {
        let targets: VerifiedTargets
        let old: [UInt8]?
    }

    /// A delegated role (TUF section 5.6.7): the stored file is used only if it matches the present delegation.
    @concurrent
    func delegated(
        _ step: DelegationStep, of chain: TrustChain
    ) async throws(VaultError) -> DelegatedRole {
        let role = step.delegation.role
        let reference = try chain.reference(to: role)
        let old = try storage.stored(role)
        if let kept = parsed(old, role, listedAs: reference),
            let targets = try? chain.delegated(kept, at: step, now: now)
        {
            return DelegatedRole(targets: targets, old: old)
        }
        let metadata = try await metadata(role, reference, under: chain.root)
        return DelegatedRole(targets: try chain.delegated(metadata, at: step, now: now), old: old)
    }

    /// Stores a delegated role. If that fails, or another process was faster, the verified role is still valid in this
    /// chain.
    func store(_ role: DelegatedRole, of chain: TrustChain) async -> VerifiedTargets {
        do throws(VaultError) {
            _ = try await store(role.targets, insteadOf: role.old, under: chain.root)
        } catch {}
        return role.targets
    }

    /// The stored file, if it is well-formed.
    private func parsed(_ bytes: [UInt8]?, _ role: MetadataRole) -> UnverifiedMetadata? {
        bytes.flatMap { try? UnverifiedMetadata(parsing: $0, as: role, place: "trusted \(role.fileName)") }
    }

    /// The stored file, if trusted metadata list exactly it, so that other users who can write there can't even choose which bytes
    /// are parsed.
    private func parsed(
        _ bytes: [UInt8]?, _ role: MetadataRole, listedAs reference: MetadataReference
    ) -> UnverifiedMetadata? {
        guard let bytes, (try? reference.check(bytes, at: "trusted \(role.fileName)")) != nil else {
            return nil
        }
        return parsed(bytes, role)
    }

    private func store(
        _ new: some VerifiedMetadata, insteadOf old: [UInt8]?, under root: VerifiedRoot
    ) async throws(VaultError) -> Bool {
        if new.bytes == old { return true }
        return try await storage.store(new, insteadOf: old, under: root)
    }

    /// Fetches a file that the trusted metadata above it lists.
    private func metadata(
        _ role: MetadataRole, _ reference: MetadataReference, under root: VerifiedRoot
    ) async throws(VaultError) -> UnverifiedMetadata {
        let name = root.hostedName(role, version: reference.version)
        let bytes = try await require(name, limit: reference.limit(for: role))
        let place = source.place(of: name)
        try reference.check(bytes, at: place)
        return try UnverifiedMetadata(parsing: bytes, as: role, place: place)
    }

    private func require(_ name: String, limit: Int) async throws(VaultError) -> [UInt8] {
        guard let bytes = try await source.limitedMetadata(named: name, limit: limit) else {
            throw VaultError(
                .unavailable, "the host does not have it", at: source.place(of: name),
                remedy: "check the URL; if it is right, the site is not uploaded completely",
                code: "missing-metadata")
        }
        return bytes
    }
}

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
