import SealedPack
import Synchronization
import Testing
import VaultBase
import VaultCrypto

/// A pack opens only with its own key, from any source.
@Suite struct KeyTests {
    private let key: ContentKey
    private let first: VaultKey
    private let second: VaultKey
    private let sealed: Sealed
    private let place: PackPlace

    init() async throws {
        key = try await TestKey().contentKey()
        first = try vaultKey("first", seed: 1)
        second = try vaultKey("second", seed: 2)
        let slots = [try KeySlot(wrapping: key, under: first), try KeySlot(wrapping: key, under: second)]
        sealed = try await seal(try Source.small(), key: key, slots: slots)
        place = try PackPlace()
        try place.store(sealed.bytes)
    }

    private func open(_ manifest: PackManifest?, _ provider: some KeyProvider) async throws -> OpenPack {
        try await OpenPack(try PackFile(opening: place.path, as: manifest), keys: provider)
    }

    private func open(slots: [KeySlot], _ keys: [VaultKey]) async throws -> OpenPack {
        var manifest = sealed.manifest
        manifest.slots = slots
        return try await open(manifest, InMemoryKeyProvider(KeyRing(vaultKeys: keys)))
    }

    @Test func eitherVaultKeyOpens() async throws {
        for keys in [[first], [second], [first, second]] {
            #expect(try await open(slots: sealed.manifest.slots, keys).version == 1)
        }
    }

    @Test func theContentKeyOpensByItself() async throws {
        for manifest in [nil, sealed.manifest] {
            #expect(try await open(manifest, try TestKey().provider).version == 1)
        }
    }

    @Test func sealingForTooManyKeysIsRefused() async throws {
        let slot = sealed.manifest.slots[0]
        await expectError(.usage) {
            try await seal(
                Source(files: ["a": [1]]), key: key, slots: [KeySlot](repeating: slot, count: 65))
        }
        let most = try await seal(
            Source(files: ["a": [1]]), key: key, slots: [KeySlot](repeating: slot, count: 64))
        #expect(most.manifest.slots.count == 64)
    }

    /// Several slots may have the same key ID.
    @Test func eachKeyIDIsLookedUpOnce() async throws {
        let asked = Mutex<[String]>([])
        let provider = ClosureKeyProvider { id throws(VaultError) in
            asked.withLock { $0.append(id?.description ?? "all") }
            return KeyRing()
        }
        let slots = sealed.manifest.slots
        var manifest = sealed.manifest
        manifest.slots =
            [KeySlot](repeating: slots[0], count: 30) + [KeySlot](repeating: slots[1], count: 30)
        await expectError(.key) { try await open(manifest, provider) }
        #expect(asked.withLock { $0 } == ["first", "second", key.id.description])
    }

    @Test func wrongKeysAreRefused() async throws {
        let stranger = try vaultKey("stranger", seed: 3)
        // The right ID, other bytes.
        let impostor = try vaultKey("first", seed: 3)
        // The right bytes, another ID: slots are found by ID.
        let renamed = try vaultKey("renamed", seed: 1)
        for key in [stranger, impostor, renamed] {
            await expectError(.key) { try await open(slots: sealed.manifest.slots, [key]) }
        }
        await expectError(.key) { try await open(slots: sealed.manifest.slots, []) }
        await expectError(.key) { try await open(slots: [], [first, second]) }
        await expectError(.key) { try await open(nil, InMemoryKeyProvider(KeyRing(vaultKeys: [first]))) }
    }

    @Test func wrongContentKeyWithTheRightIDIsIgnored() async throws {
        let other = TestKey(8)
        let liar = try InjectedContentKey(
            contentKeyID: key.id.bytes, secret: SecretBytes(copying: other.secret.span))
        let provider = InMemoryKeyProvider(KeyRing(contentKeys: [liar]))
        await expectError(.key) { try await open(nil, provider) }
        // The right one is still found.
        let combined = CombinedKeyProvider([provider, InMemoryKeyProvider(KeyRing(vaultKeys: [second]))])
        #expect(try await open(sealed.manifest, combined).version == 1)
    }

    @Test func changedSlotsAreRefused() async throws {
        let slot = sealed.manifest.slots[0]
        for index in slot.wrapped.indices {
            var wrapped = slot.wrapped
            wrapped[index] ^= 1 << UInt8(index % 8)
            var json = slot.json
            json["wrapped"] = .string(Base64URL.encode(wrapped.span))
            let tampered = try #require(try KeySlot(parsing: json, place: "test"))
            await expectError(.key) { try await open(slots: [tampered], [first, second]) }
            // The other slot still opens, before or after it.
            let last = sealed.manifest.slots[1]
            for slots in [[tampered, last], [last, tampered]] {
                _ = try await open(slots: slots, [first, second])
            }
        }
    }

    @Test func slotsOfAnotherPackAreRefused() async throws {
        // A slot of another pack under the same vault key unwraps to another content key.
        let other = try await TestKey(8).contentKey()
        let foreign = try KeySlot(wrapping: other, under: first)
        await expectError(.key) { try await open(slots: [foreign], [first]) }
        _ = try await open(slots: [foreign] + sealed.manifest.slots, [first])
        // With exchanged key IDs.
        let names = try sealed.manifest.slots.enumerated().map { index, slot in
            var json = slot.json
            json["kid"] = .string(index == 0 ? "second" : "first")
            return try #require(try KeySlot(parsing: json, place: "test"))
        }
        await expectError(.key) { try await open(slots: names, [first, second]) }
    }

    /// The manifest of another pack, with slots that open that one.
    @Test func manifestOfAnotherPackIsRefused() async throws {
        let other = try await TestKey(8).contentKey()
        let theirs = try await seal(
            try Source.small(), key: other, slots: [try KeySlot(wrapping: other, under: first)])
        await expectError {
            try await open(theirs.manifest, InMemoryKeyProvider(KeyRing(vaultKeys: [first])))
        }
    }

    @Test func invalidSlotsAreRefused() async throws {
        let json = sealed.manifest.slots[0].json
        func refused(_ member: String, _ value: JSONValue?) async {
            var changed = json
            changed[member] = value
            await expectError { try KeySlot(parsing: changed, place: "test") }
        }
        for member in ["kid", "alg", "wrapped"] {
            await refused(member, nil)
            await refused(member, 1)
        }
        for kid in ["", "a b", "a/b", "ä", String(repeating: "a", count: 65)] {
            await refused("kid", .string(kid))
        }
        guard case .string(let wrapped)? = json["wrapped"] else { return }
        for text in [
            "", String(wrapped.dropLast()), wrapped + "A", wrapped + "=", wrapped.replacing(/.$/, with: "B"),
            "+" + wrapped.dropFirst(),
        ] {
            if text != wrapped { await refused("wrapped", .string(text)) }
        }
        // An unknown kind of slot is skipped.
        var later = json
        later["alg"] = "X-LATER"
        later["wrapped"] = nil
        #expect(try KeySlot(parsing: later, place: "test") == nil)
    }

    @Test func contentKeyIDIsDerivedAsSpecified() throws {
        #expect(key.id.bytes == (try TestKey().derive("key-id", 16)))
        #expect(try ContentKey.generate().id != ContentKey.generate().id)
    }
}
