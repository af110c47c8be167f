public import VaultErrors

/// A provider that reads all its keys at once, as a key ring.
public protocol RingKeyProvider: KeyProvider {
    /// - Throws: ``VaultErrors/VaultError``, usually of category `key`, without any secret in its text.
    func ring() async throws(VaultError) -> KeyRing
}

extension RingKeyProvider {
    public func keys(for id: KeyID) async throws(VaultError) -> KeyRing { try await ring().keys(for: id) }
    public func allKeys() async throws(VaultError) -> KeyRing { try await ring() }
    public func knownKeyIDs() async -> [KeyID]? { (try? await ring())?.ids }
}
