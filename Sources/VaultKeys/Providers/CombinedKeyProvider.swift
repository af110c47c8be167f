public import VaultErrors

/// All of several providers' candidates together, in their order; not only those of the first that answers.
public struct CombinedKeyProvider: KeyProvider {
    private let providers: [any KeyProvider]

    public init(_ providers: [any KeyProvider]) {
        self.providers = providers
    }

    /// A provider's error, such as an unreachable key service, is thrown only when no other provider has a candidate.
    public func keys(for id: KeyID) async throws(VaultError) -> KeyRing {
        try await candidates { provider async throws(VaultError) in try await provider.keys(for: id) }
    }

    public func listedKeys(for id: KeyID) async throws(VaultError) -> KeyRing {
        try await candidates { provider async throws(VaultError) in try await provider.listedKeys(for: id) }
    }

    private func candidates(
        _ found: (any KeyProvider) async throws(VaultError) -> KeyRing
    ) async throws(VaultError) -> KeyRing {
        var ring = KeyRing()
        var failure: VaultError?
        for provider in providers {
            do throws(VaultError) {
                ring.append(try await found(provider))
            } catch {
                failure = failure ?? error
            }
        }
        if ring.isEmpty, let failure { throw failure }
        return ring
    }

    /// Fails when any provider does: a pack must not be sealed for fewer keys than requested.
    public func allKeys() async throws(VaultError) -> KeyRing {
        var ring = KeyRing()
        for provider in providers {
            ring.append(try await provider.allKeys())
        }
        return ring
    }

    /// Nil if any of the providers must look up each ID: then the IDs of the others alone would be no complete answer.
    public func knownKeyIDs() async -> [KeyID]? {
        var ids: [KeyID] = []
        for provider in providers {
            guard let known = await provider.knownKeyIDs() else { return nil }
            ids += known.filter { !ids.contains($0) }
        }
        return ids
    }
}
