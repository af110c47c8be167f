import SealedPack
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultSite

/// The IDs of vault keys that packs are never sealed for again, and of content keys of which no version is listed again: two signed
/// members of the top-level targets, or of a team's role, such as `["9Zq…"]`. So a key that leaked can't return unnoticed, from
/// whatever machine the site is published. The specification allows further members (section 4.1); other clients ignore them.
struct RetiredKeys: Sendable {
    static let member = "x-retired-keys"
    static let contentMember = "x-retired-content-keys"

    private(set) var ids: Set<KeyID> = []
    private(set) var contentKeys: Set<ContentKeyID> = []
    /// Those that this very change retires: their files still have them.
    private(set) var retiring: Set<KeyID> = []
    /// Whether this very change retires any key.
    private(set) var isChanged = false

    init() {}

    /// - Parameter document: nil before anything was published.
    /// - Throws: `untrusted` for anything but IDs.
    init(in document: MetadataDocument?) throws(VaultError) {
        ids = Set(try Self.list(Self.member, of: document) { try? KeyID($0) })
        contentKeys = Set(
            try Self.list(Self.contentMember, of: document) { try? ContentKeyID($0, place: "") })
    }

    private static func list<ID>(
        _ member: String, of document: MetadataDocument?, parsing parse: (String) -> ID?
    ) throws(VaultError) -> [ID] {
        guard let document, let value = document.signed[member] else { return [] }
        let refusal = VaultError(
            .untrusted, "its member \"\(member)\" is no list of key IDs", at: document.hostedName,
            remedy: "find out who signed it: only IDs of retired keys are written there")
        guard case .array(let elements) = value else { throw refusal }
        return try elements.map { element throws(VaultError) in
            guard case .string(let text) = element, let id = parse(text) else { throw refusal }
            return id
        }
    }

    func adding(_ new: Set<KeyID>, contentKeys newContentKeys: Set<ContentKeyID>) -> RetiredKeys {
        var keys = self
        keys.ids.formUnion(new)
        keys.contentKeys.formUnion(newContentKeys)
        keys.retiring.formUnion(new)
        keys.isChanged = true
        return keys
    }

    /// Of the member ``member``; nil where no vault key is retired.
    var json: JSONValue? { Self.json(ids) }
    /// Of the member ``contentMember``; nil where no content key is retired.
    var contentJSON: JSONValue? { Self.json(contentKeys) }

    private static func json(_ ids: Set<some CustomStringConvertible>) -> JSONValue? {
        ids.isEmpty ? nil : .array(ids.map(\.description).sorted().map { .string($0) })
    }

    /// What of a listing is still open to keys that were taken out of use.
    func findings(of listing: ListedPack, at place: String) -> [Finding] {
        listing.versions.flatMap { pack in
            let slots = pack.slots.map(\.keyID).filter(ids.contains).map { "the vault key '\($0)'" }
            let content = contentKeys.contains(pack.contentKeyID) ? ["its content key"] : []
            return (slots + content).map { key in
                Finding.warning(
                    "retired-key",
                    "version \(pack.version) opens with \(key), which is retired: who kept it reads the pack",
                    at: place, remedy: "publish again, or seal the pack again under a fresh content key")
            }
        }
    }

    /// Throws `.usage` for a version under a retired content key.
    func requireNone(among records: some Sequence<TargetRecord>) throws(VaultError) {
        guard !contentKeys.isEmpty else { return }
        for record in records {
            if let listing = try? ListedPack(record) { try requireNone(in: listing) }
        }
    }

    func requireNone(in listing: ListedPack) throws(VaultError) {
        for pack in listing.versions where contentKeys.contains(pack.contentKeyID) {
            throw VaultError(
                .usage, "the content key of version \(pack.version) was replaced, and is never used again",
                at: pack.id.description,
                remedy: "list a later version, or publish what you want as the source")
        }
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
