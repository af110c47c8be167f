public import SealedPack
public import VaultBase
public import VaultCrypto

/// The vault keys that an author seals for and opens with: the vault's own, and those of all audiences. None of them has the ID of
/// another one.
struct AuthorKeys: Sendable {
    /// The vault's own keys without retired ones: new packs are sealed for these.
    let own: any KeyProvider
    /// The keys that open earlier versions: all of them, retired ones included.
    let openers: any KeyProvider
    private let audiences: Audiences
    private let retired: RetiredKeys
    /// All keys that the sources list.
    private let listed: [KeyID: VaultKey]
    /// The audiences that have each of them; nil is the vault itself.
    private let owners: [KeyID: [String?]]
    /// Why a source can't be read; nil where all can be.
    private let unreadable: VaultError?

    /// Throws `.usage` where an ID is that of two different keys.
    init(
        own: any KeyProvider, audiences: Audiences, retired: RetiredKeys = RetiredKeys()
    ) async throws(VaultError) {
        let source = audiences.completing(own, of: nil)
        (self.audiences, self.retired) = (audiences, retired)
        openers = CombinedKeyProvider(
            [source, try audiences.keys(of: audiences.all)] + (try audiences.files(of: retired.ids)))
        self.own = UnretiredKeyProvider(source, retired, replaced: audiences.replaced)
        var ring = KeyRing()
        var owners: [KeyID: [String?]] = [:]
        var unreadable: VaultError?
        for owner in audiences.owners {
            let keys = try owner.map { name throws(VaultError) in try audiences.keys(of: [name]) } ?? source
            // A source that can't be read is an error only if a pack is sealed for it.
            do throws(VaultError) {
                let found = try await keys.allKeys()
                ring.append(found)
                for key in found.vaultKeys { owners[key.id, default: []].append(owner) }
            } catch { unreadable = error }
        }
        try ring.requireDistinctIDs()
        (self.owners, self.unreadable) = (owners, unreadable)
        listed = Dictionary(ring.vaultKeys.map { ($0.id, $0) }) { first, _ in first }
    }

    /// The keys of some audiences; without any name the vault's own.
    func recipients(_ names: [String]) throws(VaultError) -> any KeyProvider {
        names.isEmpty
            ? own
            : UnretiredKeyProvider(try audiences.keys(of: names), retired, replaced: audiences.replaced)
    }

    /// The IDs of the keys of some audiences; empty for a source that can't be read, which is an error only if a pack is sealed for it.
    private func recipientIDs(_ names: [String]) async throws(VaultError) -> Set<KeyID> {
        do throws(VaultError) { return Set(try await recipients(names).allKeys().vaultKeys.map(\.id)) } catch
        {
            guard error.category != .usage else { throw error }
            return []
        }
    }

    /// Throws `.usage` for more keys than one pack is sealed for, and for a retired one.
    ///
    /// - Parameters:
    ///   - added: one more key, of some audiences; nil among them is the vault itself.
    func requireFewEnough(
        for settings: VaultSettings, with added: KeyID? = nil, of owners: [String?] = []
    ) async throws(VaultError) {
        var known: [[String]: Set<KeyID>] = [:]
        func require(_ names: [String], at place: String) async throws(VaultError) {
            if known[names] == nil {
                var ids = try await recipientIDs(names)
                let isRecipient =
                    names.isEmpty ? owners.contains(nil) : names.contains { owners.contains($0) }
                if let added, isRecipient { ids.insert(added) }
                known[names] = ids
            }
            try KeySlot.requireCount(known[names]?.count ?? 0, at: place)
        }
        for source in settings.sources {
            try await require(source.audiences, at: source.id.description)
        }
        guard settings.hasOpaqueNames else { return }
        try await require([], at: Self.readersOfNames)
        let readers = known.values.reduce(into: Set<KeyID>()) { $0.formUnion($1) }
        try KeySlot.requireCount(readers.count, at: Self.readersOfNames)
    }

    static let readersOfNames =
        "the table of opaque names, for the vault's own keys and each key that opens a pack"

    /// The slots of a pack that no source makes. Keys in use keep theirs. The newer keys of the owners of a replaced or retired key get
    /// slots, and a retired key loses its own.
    ///
    /// - Returns: the same slots where no other key is left.
    func slots(of key: ContentKey, succeeding slots: [KeySlot]) async throws(VaultError) -> [KeySlot] {
        let (kept, successors) = try await succession(of: slots)
        let known = Set(kept.map(\.keyID))
        let next = try successors.vaultKeys.filter { !known.contains($0.id) }.map {
            vaultKey throws(VaultError) in
            try KeySlot(wrapping: key, under: vaultKey)
        }
        try KeySlot.requireCount(kept.count + next.count, at: "vault keys")
        return kept.isEmpty && next.isEmpty ? slots : next + kept
    }

    /// The keys for a pack that no source makes, and the IDs of those that are not here.
    func keys(succeeding slots: [KeySlot]) async throws(VaultError) -> (keys: KeyRing, absent: [KeyID]) {
        var (kept, ring) = try await succession(of: slots)
        kept.removeAll { ring.ids.contains($0.keyID) }
        var absent: [KeyID] = []
        for slot in kept {
            let found = KeyRing(vaultKeys: try await openers.keys(for: slot.keyID).vaultKeys)
            found.isEmpty ? absent.append(slot.keyID) : ring.append(found)
        }
        return (ring, absent)
    }

    /// The slots of unretired keys, and the newer keys of the owners of replaced and retired ones. A key that also belongs to an audience
    /// that could not read the pack is left out: that audience would gain access. Throws where the owner of a replaced or retired key may
    /// be one whose keys can't be read.
    private func succession(of slots: [KeySlot]) async throws(VaultError) -> (
        kept: [KeySlot], successors: KeyRing
    ) {
        let replaced = Set(audiences.replaced.map(\.id))
        var ring = KeyRing()
        for slot in slots where retired.ids.contains(slot.keyID) || replaced.contains(slot.keyID) {
            if owners[slot.keyID] == nil, let unreadable { throw unreadable }
            let former = Set(owners[slot.keyID] ?? [])
            for owner in former {
                let keys = try await recipients(owner.map { [$0] } ?? []).allKeys().vaultKeys
                ring.append(
                    KeyRing(
                        vaultKeys: keys.filter {
                            !replaced.contains($0.id) && former.isSuperset(of: owners[$0.id] ?? [])
                        }))
            }
        }
        return (slots.filter { !retired.ids.contains($0.keyID) }, ring)
    }

    /// Whether a source lists a key with this ID.
    func lists(_ id: KeyID) -> Bool { listed[id] != nil }

    func holder(of slot: KeySlot) -> SlotHolder {
        SlotHolder(id: slot.keyID, isReplaced: listed[slot.keyID].map { !slot.isWrapped(under: $0) } ?? false)
    }

    func holders(of slots: [KeySlot]) -> Set<SlotHolder> { Set(slots.map(holder)) }

    /// The keys of these slots that have no slot among the others.
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
            key = try await keys.contentKey(of: previous)
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
                .key,
                ring.contentKeys.isEmpty
                    ? "no vault key was given to seal for"
                    : "only content keys were given, which open packs; packs are sealed for vault keys",
                at: "vault keys", remedy: "make one", hint: .makingVaultKey)
        }
        return slots
    }
}
