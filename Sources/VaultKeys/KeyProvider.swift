public import VaultErrors

/// Where keys come from: an app's own store, a secret of the platform, a key service.
///
/// An app that only opens packs implements `keys(for:)` alone, and hands the key out once the player may have
/// it. Asked often and concurrently; what is slow to get is for the provider to keep.
public protocol KeyProvider: Sendable {
    /// The candidates for one key ID, empty when the provider has none. The ID of a content key that is
    /// injected by itself is the base64url of its content key ID.
    ///
    /// - Throws: ``VaultErrors/VaultError``, usually of category `key`, without any secret in its text.
    func keys(for id: KeyID) async throws(VaultError) -> KeyRing

    /// Every key that the provider yields, for sealing: a pack opens with each of its vault keys.
    func allKeys() async throws(VaultError) -> KeyRing

    /// The IDs of the keys that it has now, where it can say so at once and without asking anybody: for messages, and to know
    /// which packs wait for another key before they are downloaded. Nil where it has to be asked for each.
    func knownKeyIDs() async -> [KeyID]?
}

extension KeyProvider {
    /// Refuses: a provider that answers only by key ID can't be sealed for.
    public func allKeys() async throws(VaultError) -> KeyRing {
        throw VaultError(
            .key, "this key provider gives keys by their ID only", at: "key provider",
            remedy: "seal with a provider that can list its keys")
    }

    /// Knows none by itself.
    public func knownKeyIDs() async -> [KeyID]? { nil }
}
