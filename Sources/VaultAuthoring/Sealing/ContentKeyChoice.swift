public import SealedPack
public import VaultErrors
public import VaultKeys

/// The content key of a pack and its slots, one for each vault key that is given.
public struct ContentKeyChoice: Sendable {
    public let key: ContentKey
    public let slots: [KeySlot]

    /// The key of `previous`, else a fresh one. Throws `.key` when no vault key is given or none opens `previous`.
    ///
    /// - Parameter recipients: the vault keys to seal for; nil for `keys`.
    public init(
        following previous: PackManifest?, keys: any KeyProvider,
        sealingFor recipients: (any KeyProvider)? = nil
    ) async throws(VaultError) {
        if let previous {
            key = try await keys.contentKey(
                previous.contentKeyID, slots: previous.slots, place: previous.id.description)
        } else {
            key = try ContentKey.generate()
        }
        slots = try await Self.slots(of: key, for: recipients ?? keys)
    }

    /// A slot for each vault key of a provider. Throws `.key` where it has none, `.usage` for too many and for two with one ID.
    static func slots(of key: ContentKey, for recipients: any KeyProvider) async throws(VaultError)
        -> [KeySlot]
    {
        var slots: [KeySlot] = []
        let ring = try await recipients.allKeys()
        try ring.requireDistinctIDs()
        try KeySlot.requireCount(ring.vaultKeys.count, at: "vault keys")
        for vaultKey in ring.vaultKeys { slots.append(try KeySlot(wrapping: key, under: vaultKey)) }
        guard !slots.isEmpty else {
            throw VaultError(
                .key, "no vault key was given to seal for", at: "vault keys",
                remedy: "make one", hint: .makingVaultKey)
        }
        return slots
    }
}
