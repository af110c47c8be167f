import UpdateFramework
import VaultBase
import VaultCrypto

/// The IDs of vault keys that packs are never sealed for again: a signed member of the top-level targets, or of a team's role, such as
/// `["9Zq…"]`. So a key that leaked can't return unnoticed, from whatever machine the site is published. The specification allows
/// further members (section 4.1); other clients ignore it.
struct RetiredKeys: Sendable {
    static let member = "x-retired-keys"

    private(set) var ids: Set<KeyID> = []
    /// Those that this very change retires: their files still have them.
    private(set) var retiring: Set<KeyID> = []

    init() {}

    /// - Parameter document: nil before anything was published.
    /// - Throws: `untrusted` for anything but IDs.
    init(in document: MetadataDocument?) throws(VaultError) {
        guard let document, let value = document.signed[Self.member] else { return }
        let refusal = VaultError(
            .untrusted, "its member \"\(Self.member)\" is no list of key IDs", at: document.hostedName,
            remedy: "find out who signed it: only IDs of retired vault keys are written there")
        guard case .array(let elements) = value else { throw refusal }
        for element in elements {
            guard case .string(let text) = element, let id = try? KeyID(text) else { throw refusal }
            ids.insert(id)
        }
    }

    func adding(_ new: Set<KeyID>) -> RetiredKeys {
        var keys = self
        keys.ids.formUnion(new)
        keys.retiring.formUnion(new)
        return keys
    }

    /// Nil where no key is retired.
    var json: JSONValue? {
        ids.isEmpty ? nil : .array(ids.map(\.description).sorted().map { .string($0) })
    }
}

/// The keys of a source that packs are sealed for.
struct UnretiredKeyProvider: KeyProvider {
    private let source: any KeyProvider
    private let retired: RetiredKeys
    private let replaced: Set<KeyID>

    /// - Parameter replaced: keys that are retired when their replacement is finished. One that is interrupted leaves them there.
    init(_ source: any KeyProvider, _ retired: RetiredKeys, replaced: [ReplacedKey]) {
        (self.source, self.retired, self.replaced) = (source, retired, Set(replaced.map(\.id)))
    }

    /// Throws `.usage` for a retired key.
    func allKeys() async throws(VaultError) -> KeyRing {
        let left = retired.retiring.union(replaced.intersection(retired.ids))
        let ring = try await source.allKeys().without(left)
        if let id = ring.vaultKeys.map(\.id).first(where: retired.ids.contains) {
            throw VaultError(
                .usage, "the vault key '\(id)' was retired, and packs are never sealed for it again",
                at: "vault keys", remedy: "take it out of its file, or give another key",
                hint: .retiringKey("\(id)"))
        }
        return ring
    }

    func keys(for id: KeyID) async throws(VaultError) -> KeyRing { try await source.keys(for: id) }
    func knownKeyIDs() async -> [KeyID]? { await source.knownKeyIDs() }
    func listedKeys(for id: KeyID) async throws(VaultError) -> KeyRing {
        try await source.listedKeys(for: id)
    }
}
