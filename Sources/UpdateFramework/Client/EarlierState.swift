import SystemPackage
public import VaultErrors

/// One verified state of a site that is not the present one here, with the delegated roles that were read with it: what was verified
/// before a refresh, or what another store has.
public struct EarlierState: Sendable {
    public let chain: TrustChain
    public let lookup: TargetLookup
}

extension MetadataStore {
    /// The first result by the states before the latest refreshes whose delegated roles were not all read again since, the newest
    /// first; nil where there is none. Only for what is already loaded: each may be outdated.
    public func firstEarlierState<Result>(
        _ body: (EarlierState) async throws(VaultError) -> Result?
    ) async throws(VaultError) -> Result? {
        let sets = try earlier.sets
        guard !sets.isEmpty else { return nil }
        let roots = try storedRootChain()
        for source in sets {
            guard let chain = try await chain(of: source, under: roots) else { continue }
            let workflow = TrustWorkflow(source: source, storage: InitialTrust(), now: .earliest)
            let state = EarlierState(chain: chain, lookup: TargetLookup(workflow))
            if let result = try await body(state) { return result }
        }
        return nil
    }

    /// The chain of an earlier state, verified under the newest root, or the one before it that names the keys of its timestamp and
    /// snapshot: the state was verified before these keys were replaced, and what replaces it may not be here yet. The targets count
    /// only while the newest root names who signed them. Nil where it does not verify.
    private func chain(of state: StoredMetadata, under roots: RootChain) async throws(VaultError)
        -> TrustChain?
    {
        let newest = roots.newest
        for version in try storedRoots.versions().reversed() where version <= newest.version {
            guard let bytes = try storedRoots.root(version: version),
                let root = try? VerifiedRoot(trustedRootFile: bytes), roots.contains(root),
                let chain = try? await TrustChain.verifying(state, pinnedRoot: bytes, now: .earliest)
            else { continue }
            let targets = try UnverifiedMetadata(
                parsing: chain.targets.bytes, as: .targets, place: folder.string)
            return (try? newest.verify(targets, as: .targets)) == nil ? nil : chain
        }
        return nil
    }

    /// Where nothing is delegated all is read with the targets: earlier states are needed no more, unless another process has begun
    /// a later refresh. A failure is harmless: stored metadata that verify come first.
    func removeEarlier(supersededBy chain: TrustChain) async {
        guard chain.targets.delegations == nil, (try? earlier.sets.isEmpty) != true else { return }
        try? await locked { () throws(VaultError) in
            guard try stored(.timestamp) == chain.timestamp.bytes else { return }
            try earlier.removeAll(under: chain)
        }
    }

    /// Notes that all of a state can be read here. The last one stays among the earlier states where of a later one something can't
    /// be read that is no metadata, such as names which are encrypted. A failure is harmless: what is loaded stays.
    public func noteReadable(_ chain: TrustChain) async {
        let digest = chain.snapshot.digest
        guard earlier.readableSnapshot != digest else { return }
        try? await locked { () throws(VaultError) in
            guard try stored(.timestamp) == chain.timestamp.bytes else { return }
            try earlier.noteReadable(digest)
        }
        await removeEarlier(supersededBy: chain)
    }
}
