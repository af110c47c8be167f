import SealedPack
import VaultErrors
public import VaultKeys

/// The vault keys that an author seals for and opens with: the vault's own, and those of all audiences. None of them has the ID of
/// another one.
struct AuthorKeys: Sendable {
    /// The vault's own.
    let own: any KeyProvider
    private let audiences: Audiences
    /// All that could be listed.
    private let listed: [KeyID: VaultKey]

    /// Throws `.usage` where an ID is that of two different keys.
    init(own: any KeyProvider, audiences: Audiences) async throws(VaultError) {
        (self.own, self.audiences) = (own, audiences)
        var ring = KeyRing()
        if let found = try? await own.allKeys() { ring.append(found) }
        for name in audiences.all {
            // A source that can't be read is an error where something is sealed for it.
            if let found = try? await audiences.keys(of: [name]).allKeys() { ring.append(found) }
        }
        try ring.requireDistinctIDs()
        listed = Dictionary(ring.vaultKeys.map { ($0.id, $0) }) { first, _ in first }
    }

    /// The keys of some audiences; without any name the vault's own.
    func recipients(_ names: [String]) throws(VaultError) -> any KeyProvider {
        names.isEmpty ? own : try audiences.keys(of: names)
    }

    /// What opens earlier versions: all keys.
    func openers() throws(VaultError) -> any KeyProvider {
        CombinedKeyProvider([own, try audiences.keys(of: audiences.all)])
    }

    /// Throws `.usage` for more keys than one pack is sealed for.
    func requireFewEnough(for settings: VaultSettings) async throws(VaultError) {
        var known: [[String]: Set<KeyID>] = [:]
        func require(_ names: [String], at place: String) async throws(VaultError) {
            if known[names] == nil {
                let found = try? await recipients(names).allKeys()
                known[names] = Set(found?.vaultKeys.map(\.id) ?? [])
            }
            try KeySlot.requireCount(known[names]?.count ?? 0, at: place)
        }
        for source in settings.sources {
            try await require(source.audiences, at: source.id.description)
        }
        guard settings.hasQuietNames else { return }
        try await require([], at: Self.readersOfNames)
        let readers = known.values.reduce(into: Set<KeyID>()) { $0.formUnion($1) }
        try KeySlot.requireCount(readers.count, at: Self.readersOfNames)
    }

    /// For messages.
    static let readersOfNames =
        "the table of quiet names, for the vault's own keys and each key that opens a pack"

    func holder(of slot: KeySlot) -> SlotHolder {
        SlotHolder(id: slot.keyID, isReplaced: listed[slot.keyID].map { !slot.isWrapped(under: $0) } ?? false)
    }

    func holders(of slots: [KeySlot]) -> Set<SlotHolder> { Set(slots.map(holder)) }

    /// The holders of slots that are in no other ones.
    func holders(of slots: [KeySlot], without others: [KeySlot]) -> [SlotHolder] {
        let kept = holders(of: others)
        return slots.map(holder).filter { !kept.contains($0) }
    }
}

/// A vault key that a slot is for.
public struct SlotHolder: Hashable, Sendable {
    public let id: KeyID
    /// Whether the author has another key with this ID now.
    public let isReplaced: Bool

    /// For messages.
    public var text: String {
        isReplaced ? "'\(id)' of before (another key has this ID now)" : "'\(id)'"
    }
}
