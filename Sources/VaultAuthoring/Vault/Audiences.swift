import Synchronization
import SystemPackage
import VaultBase
import VaultCrypto

/// For whom packs are sealed: the member `"audiences"` of `vault.json`, names with one key source each, such as
/// `{"press": "file:keys/press.jwks"}`. Relative paths begin at the vault.
struct Audiences: Sendable {
    private let sources: [String: KeySpec]
    /// Those that were opened: a source is asked once for each key in a run.
    private let providers = Providers()

    private final class Providers: Sendable {
        let opened = Mutex<[String: CachingKeyProvider]>([:])
    }

    /// - Parameter json: nil where none are declared.
    init(parsing json: LocatedJSON?, in vault: FilePath) throws(VaultError) {
        var sources: [String: KeySpec] = [:]
        for audience in try json?.members() ?? [] {
            sources[audience.name] = try audience.value.map { () throws(VaultError) in
                try KeySpec(parsing: audience.value.string()).relative(to: vault)
            }
        }
        self.sources = sources
    }

    /// The member `"for"` of a pack or a resource tree; empty where it is absent. Throws `.usage` for a name that is not
    /// declared.
    func names(in json: LocatedJSON) throws(VaultError) -> [String] {
        guard let list = try json["for"] else { return [] }
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
        guard !names.isEmpty else {
            throw list.error(
                .usage, "no key would open a pack for no audience",
                remedy: "name an audience, or remove \"for\"")
        }
        return names
    }

    /// The keys of some audiences. Throws `.key` for a file descriptor that was not inherited.
    func keys(of names: [String]) throws(VaultError) -> any KeyProvider {
        var found: [any KeyProvider] = []
        for name in names {
            guard let source = sources[name] else { continue }
            found.append(
                try providers.opened.withLock { opened throws(VaultError) in
                    if let known = opened[name] { return known }
                    let provider = CachingKeyProvider(try source.provider())
                    opened[name] = provider
                    return provider
                })
        }
        return CombinedKeyProvider(found)
    }

    /// All names, sorted.
    var all: [String] { sources.keys.sorted() }
}
