import ArgumentParser
import VaultErrors
import VaultFileSystem
import VaultKeys

/// Where keys come from; several sources are asked in their order.
struct KeyOptions: ParsableArguments {
    @Option(
        name: .customLong("keys"),
        help: ArgumentHelp(
            "Where keys come from: env:NAME, file:PATH, fd:N, dir:PATH or exec:COMMAND. May be repeated.",
            valueName: "spec"))
    var specs: [String] = []

    /// Nil when no source was given. A source is asked once for each key ID: packs choose the IDs, and a command may cost.
    func provider() throws(VaultError) -> (any KeyProvider)? {
        try source().map { CachingKeyProvider($0) }
    }

    /// The same, asked each time, so that a key may arrive later.
    func source() throws(VaultError) -> (any KeyProvider)? {
        guard !specs.isEmpty else { return nil }
        SwapWarning.report()
        return ChainedKeyProvider(try specs.map { text throws(VaultError) in try Self.spec(text).provider() })
    }

    /// Keys are read only when a pack needs them: without this a typing error would show much later.
    func warnOfMissingFiles() throws(VaultError) {
        for text in specs {
            guard let path = try Self.spec(text).path, try !FileSystem.exists(path) else { continue }
            Console.note("warning: --keys: \(path) does not exist")
        }
    }

    func required() throws(VaultError) -> any KeyProvider {
        if let provider = try provider() { return provider }
        throw Self.missing
    }

    static let missing = VaultError(
        .key, "no key was given", at: "--keys", remedy: "name a source, such as --keys file:vault.jwks")

    private static func spec(_ text: String) throws(VaultError) -> KeySpec {
        do { return try KeySpec(parsing: text) } catch { throw error.placed(at: "--keys") }
    }
}
