public import VaultErrors

/// What a client verified before a refresh: one state of the site, with the delegated roles that were read then.
public struct EarlierState: Sendable {
    public let chain: TrustChain
    public let lookup: TargetLookup
}

extension MetadataStore {
    /// The states before the latest refreshes whose delegated roles were not all read again since, the newest first. Only for what
    /// is already loaded: each may be outdated.
    public func earlierStates() async throws(VaultError) -> [EarlierState] {
        var states: [EarlierState] = []
        for source in try earlier.sets {
            guard let chain = try? await chain(of: source) else { continue }
            let workflow = TrustWorkflow(source: source, storage: InitialTrust(), now: .earliest)
            states.append(EarlierState(chain: chain, lookup: TargetLookup(workflow)))
        }
        return states
    }

    /// The top-level metadata before a refresh that has not ended; nil where there are none.
    func earlierChain() async throws(VaultError) -> TrustChain? {
        for source in try earlier.sets {
            if let chain = try? await chain(of: source) { return chain }
        }
        return nil
    }

    private func chain(of source: StoredMetadata) async throws(VaultError) -> TrustChain {
        try await TrustChain.verifying(
            source, pinnedRoot: storedRootChain().newest.bytes, now: .earliest)
    }

    /// Where nothing is delegated all is read with the targets: earlier states are needed no more, unless another process has begun
    /// a later refresh. A failure is harmless: stored metadata that verify come first.
    func removeEarlier(supersededBy chain: TrustChain) async {
        guard chain.targets.delegations == nil, (try? earlier.sets.isEmpty) != true else { return }
        try? await locked { () throws(VaultError) in
            guard try stored(.timestamp) == chain.timestamp.bytes else { return }
            try earlier.removeAll()
        }
    }
}
