public import VaultBase

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

    /// The metadata whose versions the snapshot and the timestamp list; each before those that name it.
    public var numberedDocuments: [MetadataDocument] {
        delegatedRoles.map(\.document) + [chain.targets.document, chain.snapshot.document]
    }

    /// The version of each of these, by the name of its file without the version.
    public var versions: [String: Int64] {
        Dictionary(numberedDocuments.map { ($0.role.fileName, $0.version) }) { first, _ in first }
    }

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

extension TrustChain {
    /// The same metadata without some of the roles that the top-level targets delegate to. Used to see the site as a client
    /// of one channel does.
    public func hidingRoles(where isHidden: (MetadataRole) -> Bool) -> TrustChain {
        TrustChain(
            root: root, timestamp: timestamp, snapshot: snapshot,
            targets: targets.hidingRoles(where: isHidden),
            isContested: isContested)
    }
}

extension TargetTree {
    /// The same metadata without some of the roles that the top-level targets delegate to. Used to see the site as a client
    /// of one channel does.
    public func hidingRoles(where isHidden: (MetadataRole) -> Bool) -> TargetTree {
        let chain = chain.hidingRoles(where: isHidden)
        var reached: [DelegationStep: Result<VerifiedTargets, VaultError>] = [:]
        var pending = chain.targets.delegationSteps
        while let step = pending.popLast() {
            guard reached[step] == nil, let role = roles[step] else { continue }
            reached[step] = role
            if case .success(let targets) = role { pending += targets.delegationSteps }
        }
        return TargetTree(chain, roles: reached)
    }
}

extension TargetTree {
    /// What the site published under an earlier snapshot, as far as a source still has it, however long ago it expired. For
    /// publishers alone: clients accept no earlier state.
    ///
    /// Snapshot and top-level targets are verified under the newest of `roots` that named their keys, delegated roles by the
    /// delegations of then. Those that fail, or are gone, are ``refusals``.
    ///
    /// - Parameter roots: of the site.
    /// - Returns: nil where the source has no such snapshot.
    public func earlier(
        snapshot version: Int64, in source: any MetadataSource, under roots: [VerifiedRoot]
    ) async throws(VaultError) -> TargetTree? {
        guard let snapshot = try await source.metadata(of: .snapshot, statingVersion: version) else {
            return nil
        }
        let verifiedSnapshot = try Self.verifying(under: roots) { root throws(VaultError) in
            try VerifiedSnapshot(verifying: snapshot, under: root)
        }
        let reference = verifiedSnapshot.targets
        let name = MetadataRole.targets.hostedName(version: reference.version)
        guard let targets = try await source.metadata(of: .targets, statingVersion: reference.version) else {
            throw VaultError(
                .missing, "snapshot version \(version) lists it, and it is no longer kept",
                at: source.place(of: name), remedy: "restore it from a backup, or choose another snapshot")
        }
        try reference.check(targets.document.bytes, at: name)
        let verifiedTargets = try Self.verifying(under: roots) { root throws(VaultError) in
            try VerifiedTargets(verifying: targets, under: root)
        }
        let earlier = TrustChain(
            root: chain.root, timestamp: chain.timestamp, snapshot: verifiedSnapshot,
            targets: verifiedTargets, isContested: false)
        return try await TrustWorkflow(source: source, storage: InitialTrust(), now: .earliest).tree(
            of: earlier)
    }

    /// The newest root counts first; its error is thrown where all refuse.
    private static func verifying<Metadata>(
        under roots: [VerifiedRoot], _ verify: (VerifiedRoot) throws(VaultError) -> Metadata
    ) throws(VaultError) -> Metadata {
        var first: VaultError?
        for root in roots.reversed() {
            do throws(VaultError) { return try verify(root) } catch { first = first ?? error }
        }
        throw first ?? .malformedMetadata("no root was given", at: MetadataRole.root.fileName)
    }
}

/// The search for one path through the delegations, in pre-order: the first role that lists the path decides (section
/// 5.6.7). The caller reads the roles that it requests.
struct TargetSearch {
    /// The maximum number of delegated roles visited for one path.
    static let visitLimit = 32

    private let path: TargetPath
    /// The roles to visit, the next one last.
    private var pending: [(step: DelegationStep, signer: MetadataRole)] = []
    /// See ``TargetRecord/signer``; nil while the top-level targets are visited.
    private var signer: MetadataRole?
    private var visited: Set<MetadataRole> = []
    private(set) var found: TargetRecord?

    init(for path: String, in targets: VerifiedTargets) {
        self.path = TargetPath(path)
        visit(targets)
    }

    /// The next role to visit; nil when the search has ended.
    mutating func next() throws(VaultError) -> DelegationStep? {
        guard found == nil else { return nil }
        while let (step, signer) = pending.popLast() {
            // Skips visited roles, which ends cycles.
            guard visited.insert(step.delegation.role).inserted else { continue }
            guard visited.count <= Self.visitLimit else {
                throw .malformedMetadata(
                    "the search needs more than \(Self.visitLimit) delegated roles",
                    at: "target \(path.text.excerpt)")
            }
            self.signer = signer
            return step
        }
        return nil
    }

    mutating func visit(_ targets: VerifiedTargets) {
        found = targets[path.text]
        found?.signer = signer ?? .targets
        guard found == nil, let next = targets.delegations?.covering(path) else { return }
        if next.last?.isTerminating == true { pending = [] }
        pending += next.reversed().map {
            (DelegationStep(delegation: $0, delegator: targets.document.role), signer ?? $0.role)
        }
    }
}
