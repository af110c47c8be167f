import Synchronization
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// For whom packs are sealed: the member `"audiences"` of `vault.json`, names with one key source each, such as
/// `{"press": "file:keys/press.jwks"}`. Relative paths begin at the vault.
///
/// While a key is being replaced, packs are sealed for both: `"replacedKeys"` names the old keys, which stand in `keys/replaced/ID.jwks`.
struct Audiences: Sendable {
    private let sources: [String: KeySpec]
    let replaced: [ReplacedKey]
    private let vault: VaultFolder
    /// Opens the key services among the sources; nil refuses them.
    var services: KeySpec.ServiceOpener?
    /// Those that were opened: a source is asked once for each key in a run.
    private let providers = Providers()

    private final class Providers: Sendable {
        let opened = Mutex<[String: CachingKeyProvider]>([:])
    }

    /// - Parameter settings: the whole `vault.json`.
    init(parsing settings: LocatedJSON, in vault: VaultFolder) throws(VaultError) {
        var sources: [String: KeySpec] = [:]
        for audience in try settings["audiences"]?.members() ?? [] {
            sources[audience.name] = try audience.value.map { () throws(VaultError) in
                try KeySpec(parsing: audience.value.string()).relative(to: vault.path)
            }
        }
        replaced = try (settings["replacedKeys"]?.elements() ?? []).map { json throws(VaultError) in
            let key = try ReplacedKey(parsing: json)
            guard key.audience.map({ sources[$0] != nil }) ?? true else {
                throw json.error(
                    .usage, "the audience '\(key.audience?.excerpt ?? "")' is not declared",
                    remedy: "add it to \"audiences\"")
            }
            return key
        }
        (self.sources, self.vault) = (sources, vault)
    }

    /// The file of an audience's keys; nil is the vault's own. Nil for keys that come from elsewhere.
    func file(of audience: String?) -> FilePath? {
        guard let audience else { return vault.vaultKeys }
        return sources[audience]?.file
    }

    func isDeclared(_ audience: String) -> Bool { sources[audience] != nil }

    /// The files of single keys, of those that are there.
    func files(of ids: Set<KeyID>) throws(VaultError) -> [any KeyProvider] {
        try ids.map { id throws(VaultError) -> (any KeyProvider)? in
            try FileSystem.exists(vault.key(id)) ? vault.keys(in: vault.key(id)) : nil
        }.compactMap(\.self)
    }

    /// A source of an audience's keys, with those that are being replaced.
    func completing(_ source: any KeyProvider, of audience: String?) -> any KeyProvider {
        let keys = replaced.filter { $0.audience == audience }
        guard !keys.isEmpty else { return source }
        return ReplacedKeyProvider(
            source: source, replaced: keys.map { (id: $0.id, file: vault.keys(in: vault.key($0.id))) },
            newKeyMissing: newKeyMissing(of: audience))
    }

    /// For keys that are all being replaced: to seal for them alone would lock out who has the new key.
    func newKeyMissing(of audience: String?) -> VaultError {
        VaultError(
            .key,
            "the keys of \(Self.words(for: audience)) are only such that \"replacedKeys\" names; the new key is missing here",
            at: vault.settings.string,
            remedy:
                "copy the key file and keys/replaced/ from where the key was replaced; if the replacement was interrupted here, run it again",
            hint: .replacingKey)
    }

    /// For messages.
    static func words(for owner: String?) -> String {
        owner.map { "the audience '\($0)'" } ?? "the vault itself"
    }

    /// The member `"for"` of a pack or a resource tree; empty where it is absent. Throws `.usage` for a name that is not
    /// declared.
    func names(in json: LocatedJSON) throws(VaultError) -> [String] {
        guard let list = try json["for"] else { return [] }
        let names = try declared(in: list)
        guard !names.isEmpty else {
            throw list.error(
                .usage, "no key would open a pack for no audience",
                remedy: "name an audience, or remove \"for\"")
        }
        return names
    }

    /// The audience that every held pack is sealed for: its keys stay with the author, who seals later versions and releases packs by
    /// them.
    static let held = "held"

    /// The member `"held"` of a pack or a resource tree, `true` or a list of audiences: the audiences that read it before its release. Nil
    /// where it is not held. Throws `.usage` for a name that is not declared.
    func early(in json: LocatedJSON) throws(VaultError) -> [String]? {
        guard let member = try json["held"] else { return nil }
        let names: [String]
        if case .bool(let isHeld) = member.value {
            guard isHeld else { return nil }
            names = []
        } else {
            names = try declared(in: member)
        }
        return [Self.held] + names.filter { $0 != Self.held }
    }

    private func declared(in list: LocatedJSON) throws(VaultError) -> [String] {
        var names: [String] = []
        for element in try list.elements() {
            let name = try element.string()
            guard sources[name] != nil else {
                throw element.error(
                    .usage, "the audience '\(name.excerpt)' is not declared",
                    remedy: "add it to \"audiences\""
                ).suggesting(name, among: sources.keys)
            }
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// The keys of some audiences. Throws `.key` for a file descriptor that was not inherited, `.usage` where held packs have no key.
    func keys(of names: [String]) throws(VaultError) -> any KeyProvider {
        var found: [any KeyProvider] = []
        for name in names {
            guard let source = sources[name] else {
                // The other names are checked where they are declared.
                throw VaultError(
                    .usage,
                    "a held pack needs a key that only its author has, and no audience '\(Self.held)' is declared",
                    at: vault.settings.string, remedy: "make the key", hint: .makingHeldKey)
            }
            found.append(
                try providers.opened.withLock { opened throws(VaultError) in
                    if let known = opened[name] { return known }
                    let provider = CachingKeyProvider(
                        completing(
                            try source.provider(opening: services, passphrase: vault.passphrase), of: name))
                    opened[name] = provider
                    return provider
                })
        }
        return CombinedKeyProvider(found)
    }

    /// All names, sorted.
    var all: [String] { sources.keys.sorted() }

    /// All names; nil is the vault itself.
    var owners: [String?] { [nil] + all }

    /// Those whose keys are in this file, by whatever path their sources name it.
    func owners(of file: FilePath) -> [String?] {
        let file = file.resolved
        return owners.filter { self.file(of: $0)?.resolved == file }
    }
}

/// A key that packs are still sealed for, while another one replaces it: `{"id": "…", "for": "press"}`, without `"for"` one of the vault's own.
struct ReplacedKey: Hashable, Sendable {
    let id: KeyID
    let audience: String?

    init(_ id: KeyID, of audience: String?) { (self.id, self.audience) = (id, audience) }

    init(parsing json: LocatedJSON) throws(VaultError) {
        try json.requireMembers(among: ["id", "for"])
        let id = try json.required("id")
        self.id = try id.map { () throws(VaultError) in try KeyID(id.string()) }
        audience = try json["for"]?.string()
    }

    var json: JSONValue {
        var json: JSONObject = ["id": .string(id.description)]
        json["for"] = audience.map { .string($0) }
        return .object(json)
    }
}

/// A source of keys, and the files of those that were taken out of it.
private struct ReplacedKeyProvider: RingKeyProvider {
    let source: any KeyProvider
    let replaced: [(id: KeyID, file: FileKeyProvider)]
    let newKeyMissing: VaultError

    /// The source itself may still have a key that is being replaced: on another machine it is given with the new one.
    func ring() async throws(VaultError) -> KeyRing {
        var ring = try await source.allKeys()
        for key in replaced where ring.keys(for: key.id).vaultKeys.isEmpty {
            do throws(VaultError) { ring.append(try key.file.ring()) } catch {
                throw error.with(
                    remedy:
                        "\(error.remedy); if the file is lost, take the key out of \"replacedKeys\" in vault.json, and retire it by its ID"
                )
            }
        }
        return ring
    }

    /// Throws `.key` where the source has no other key.
    func allKeys() async throws(VaultError) -> KeyRing {
        let ring = try await ring()
        guard !ring.without(Set(replaced.map(\.id))).vaultKeys.isEmpty else { throw newKeyMissing }
        return ring
    }
}
