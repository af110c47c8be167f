import VaultCrypto
public import VaultErrors
public import VaultKeys

extension KeyProvider {
    /// The content key named `id`: injected by itself, or unwrapped from one of `slots`. Every candidate is tried,
    /// and a key counts only when it reproduces `id`. Throws `.key` when none does.
    public func contentKey(_ id: ContentKeyID, slots: [KeySlot], place: String) async throws(VaultError)
        -> ContentKey
    {
        if let keyID = id.keyID {
            for candidate in try await keys(for: keyID).contentKeys {
                if let key = try? ContentKey(candidate.secret.copy()), key.id == id { return key }
            }
        }
        var wrong: [KeyID] = []
        for slot in slots {
            for candidate in try await keys(for: slot.keyID).vaultKeys {
                if let key = slot.unwrapped(under: candidate, expecting: id) { return key }
                wrong.append(slot.keyID)
            }
        }
        if let first = wrong.first {
            throw VaultError(
                .key, "the key '\(first)' does not unwrap this pack's slot", at: place,
                remedy: "inject the vault key that the pack was sealed for")
        }
        let names = slots.prefix(4).map { "'\($0.keyID)'" }.joined(separator: ", ")
        throw VaultError(
            .key,
            slots.isEmpty
                ? "no slot holds this pack's key" : "it is sealed for \(names), and no such key was given",
            at: place,
            remedy: slots.isEmpty ? "use the descriptor or site that holds its slots" : "give that key")
    }
}
