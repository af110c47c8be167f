public import VaultBase
public import VaultCrypto

extension KeyProvider {
    /// The content key of `id`: unwrapped from one of `slots`, or injected by itself. Every candidate is tried, each
    /// key ID is looked up once, and a key is used only if its ID is `id`. Throws `.key` when there is none, also where some key
    /// was not looked up, as the provider's limit was reached (``VaultCrypto/CachingKeyProvider``).
    ///
    /// Packs share few vault keys, but each has its own content key. So the slots are tried first, to save lookups with a provider
    /// that runs a command for each.
    public func contentKey(_ id: ContentKeyID, slots: [KeySlot], place: String) async throws(VaultError)
        -> ContentKey
    {
        var failure: VaultError?
        var limit: VaultError?
        var wrong: [KeyID] = []
        var known: [KeyID: KeyRing] = [:]
        for slot in slots {
            if known[slot.keyID] == nil {
                do throws(VaultError) { known[slot.keyID] = try await keys(for: slot.keyID) } catch {
                    // The content key may still be there.
                    known[slot.keyID] = KeyRing()
                    if error.category == .limit { limit = error } else { failure = failure ?? error }
                }
            }
            for candidate in known[slot.keyID]?.vaultKeys ?? [] {
                if let key = slot.unwrapped(under: candidate, expecting: id) { return key }
                wrong.append(slot.keyID)
            }
        }
        if let keyID = id.keyID {
            do throws(VaultError) {
                for candidate in try await keys(for: keyID).contentKeys {
                    if let key = try? ContentKey(candidate.secret.copy()), key.id == id { return key }
                }
            } catch {
                guard error.category == .limit else { throw error }
                limit = error
            }
        }
        if let failure { throw failure }
        if let limit { throw .keyNotLookedUp(slots, limit, place: place) }
        if let first = wrong.first {
            throw VaultError(
                .key, "the key '\(first)' does not unwrap this pack's slot", at: place,
                remedy: "inject the vault key that the pack was sealed for")
        }
        throw .missingKey(slots, given: await knownKeyIDs(), place: place)
    }
}

extension KeyProvider {
    /// The content key of a pack, as ``contentKey(_:slots:place:)`` finds it.
    ///
    /// - Parameter place: for errors; nil for the pack's ID.
    public func contentKey(of pack: PackManifest, place: String? = nil) async throws(VaultError) -> ContentKey
    {
        try await contentKey(pack.contentKeyID, slots: pack.slots, place: place ?? pack.id.description)
    }

    /// The keys of this provider whose slots give another content key, or none: their holders can't open the pack.
    public func wrongSlots(of pack: PackManifest) async throws(VaultError) -> [KeyID] {
        var wrong: [KeyID] = []
        for slot in pack.slots {
            let keys = try await keys(for: slot.keyID).vaultKeys
            let isRight = keys.contains { slot.unwrapped(under: $0, expecting: pack.contentKeyID) != nil }
            if !keys.isEmpty, !isRight { wrong.append(slot.keyID) }
        }
        return wrong
    }
}

extension VaultError {
    fileprivate static func missingKey(_ slots: [KeySlot], given: [KeyID]?, place: String) -> VaultError {
        guard !slots.isEmpty else {
            return VaultError(
                .key, "no slot contains this pack's key", at: place,
                remedy: "use the manifest or site that contains its slots")
        }
        let others = given.map { $0.isEmpty ? " (no key was given)" : " (given: \(list($0)))" } ?? ""
        let ids = slots.map(\.keyID)
        let wanted =
            ids.count == 1
            ? "the key \(list(ids)), which was not given" : "the keys \(list(ids)), none of which was given"
        return VaultError(
            .key, "it is sealed for \(wanted)\(others)",
            at: place, remedy: "give a key that it is sealed for")
    }

    /// The pack waits, like a pack whose key is missing.
    fileprivate static func keyNotLookedUp(_ slots: [KeySlot], _ limit: VaultError, place: String)
        -> VaultError
    {
        let sealed = slots.isEmpty ? "" : "it is sealed for \(list(slots.map(\.keyID))), and "
        return VaultError(
            .key, "\(sealed)not every key of it was looked up: \(limit.problem)", at: place,
            remedy: limit.remedy)
    }

    private static func list(_ ids: [KeyID]) -> String {
        ids.map { "'\($0)'" }.listed(upTo: 4)
    }
}

/// Which packs may be opened with the available keys, by the public key IDs of their slots. Each ID is looked up once.
public struct KeyMatches {
    private let provider: any KeyProvider
    private let known: [KeyID]?
    private var answers: [KeyID: Bool] = [:]

    public init(_ provider: any KeyProvider) async {
        self.provider = provider
        known = await provider.knownKeyIDs()
        for id in known ?? [] { answers[id] = true }
    }

    /// Why a pack can't be opened; nil when a key may fit, or a provider fails, as it may have the key later.
    public mutating func missingKey(of pack: PackManifest) async -> VaultError? {
        var limit: VaultError?
        var refusal: VaultError?
        for id in pack.keyIDs {
            do throws(VaultError) {
                if try await has(id) { return nil }
            } catch {
                if error.isKeyRefusal { refusal = refusal ?? error } else { limit = error }
            }
        }
        if let refusal { return refusal }
        if let limit { return .keyNotLookedUp(pack.slots, limit, place: pack.id.description) }
        return .missingKey(pack.slots, given: known, place: pack.id.description)
    }

    /// Throws `.limit` where the provider is not asked, and what it throws where it refuses the key.
    private mutating func has(_ id: KeyID) async throws(VaultError) -> Bool {
        if let answer = answers[id] { return answer }
        if known != nil { return false }
        let answer: Bool
        do throws(VaultError) { answer = try await !provider.keys(for: id).isEmpty } catch {
            guard error.category != .limit, !error.isKeyRefusal else { throw error }
            answer = true
        }
        answers[id] = answer
        return answer
    }
}

extension PackManifest {
    /// The IDs under which a provider may have a key of the pack: those of its vault keys, then that of its content key.
    public var keyIDs: [KeyID] { slots.map(\.keyID) + [contentKeyID.keyID].compactMap(\.self) }
}

extension Sequence<PackManifest> {
    /// The IDs of the packs' vault keys, and those of their content keys. Packs share vault keys, so that these are few.
    public var keyIDsByUse: [Set<KeyID>] {
        var (vaultKeys, contentKeys): (Set<KeyID>, Set<KeyID>) = ([], [])
        for pack in self {
            vaultKeys.formUnion(pack.slots.map(\.keyID))
            if let id = pack.contentKeyID.keyID { contentKeys.insert(id) }
        }
        return [vaultKeys, contentKeys]
    }
}
