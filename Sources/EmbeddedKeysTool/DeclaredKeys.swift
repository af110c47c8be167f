import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// The keys that `EmbeddedKeys.json` declares for one environment: `{"development": {"game": "file:PATH"}, "production":
/// {"game": "env:NAME"}}`.
struct DeclaredKeys {
    let environment: String
    /// Sorted by the names.
    let names: [String]
    private let folder: FilePath
    private let sources: [LocatedJSON]

    /// Reads no key.
    init(of environment: String, in path: FilePath) throws(VaultError) {
        let bytes = try DurableFile.read(path, limit: 1 << 20)
        let environments = try JSONSource(parsing: bytes, name: path.string).located
        let members = try Self.members(of: environment, in: environments)
        self.environment = environment
        names = members.map(\.name)
        sources = members.map { $0.value.labelled($0.name) }
        folder = path.removingLastComponent()
    }

    /// The keys of an environment; all environments declare the same names, as the app's code is the same.
    private static func members(
        of environment: String, in environments: LocatedJSON
    ) throws(VaultError) -> [LocatedJSON.Member] {
        let known = try environments.members()
        guard let chosen = try environments[environment] else {
            let names = known.map(\.name).joined(separator: ", ")
            throw environments.error(
                .usage, "the environment '\(environment)' is not declared",
                remedy: "set EMBEDDED_KEYS_ENVIRONMENT to one of \(names)")
        }
        let members = try chosen.members()
        for member in members where !isIdentifier(member.name) {
            throw member.key.error(
                .usage, "a key's name is not a Swift name", remedy: "use a letter, then letters and digits")
        }
        for other in known {
            guard try other.value.members().map(\.name) != members.map(\.name) else { continue }
            throw other.key.error(
                .usage, "'\(other.name)' has other keys than '\(environment)'",
                remedy: "declare the same names in each environment")
        }
        return members
    }

    /// The key at `index` of `names`, read and validated: the text of a JWK Set.
    func text(at index: Int) throws(VaultError) -> SecretBytes {
        let source = sources[index]
        let spec = try source.map { () throws(VaultError) in try KeySpec(parsing: source.string()) }
        do throws(VaultError) {
            let ring = try read(spec.relative(to: folder))
            guard !ring.isEmpty else {
                throw VaultError(.key, "it has no key", at: "the JWK Set", remedy: "add the key")
            }
            return try ring.jwkSet()
        } catch {
            throw error.with(at: "\(source.place): \(error.place)")
        }
    }

    private func read(_ spec: KeySpec) throws(VaultError) -> KeyRing {
        if let name = spec.variable { return try EnvironmentKeyProvider(variable: name).ring() }
        if let path = spec.file { return try FileKeyProvider(path: path).ring() }
        throw VaultError(
            .usage, "a build does not read this kind", at: "key source", remedy: "use env:NAME or file:PATH")
    }

    /// Not even backticks make these a static member's name.
    private static let reserved: Set = ["self", "Self", "Type", "Protocol", "init"]

    private static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first), !reserved.contains(name) else { return false }
        return name.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
