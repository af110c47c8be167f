public import VaultErrors

/// A source of keys: an app's own store, a secret of the platform, a key service.
///
/// An app that only opens packs implements `keys(for:)` alone, and returns the key once the player is entitled to it.
/// It is called often and concurrently, so a slow provider should cache.
public protocol KeyProvider: Sendable {
    /// The candidates for one key ID, empty when the provider has none. The ID of a content key that is
    /// injected by itself is the base64url of its content key ID.
    ///
    /// - Throws: ``VaultErrors/VaultError``, usually of category `key`, without any secret in its text.
    func keys(for id: KeyID) async throws(VaultError) -> KeyRing

    /// All keys of the provider, for sealing: a pack opens with each of its vault keys.
    func allKeys() async throws(VaultError) -> KeyRing

    /// The IDs of the present keys, if they are known without a request: for messages, and to find packs whose key is
    /// missing before they are downloaded. Nil if each ID must be looked up.
    func knownKeyIDs() async -> [KeyID]?

    /// The candidates for one key ID that are found without a request: empty where each ID must be looked up.
    func listedKeys(for id: KeyID) async throws(VaultError) -> KeyRing
}

extension KeyProvider {
    /// Throws, as sealing needs a list of keys.
    public func allKeys() async throws(VaultError) -> KeyRing {
        throw VaultError(
            .key, "this key provider can't list its keys", at: "key provider",
            remedy: "seal with a provider that can list its keys")
    }

    public func knownKeyIDs() async -> [KeyID]? { nil }

    public func listedKeys(for id: KeyID) async throws(VaultError) -> KeyRing {
        guard let known = await knownKeyIDs(), known.contains(id) else { return KeyRing() }
        return try await keys(for: id)
    }
}

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
