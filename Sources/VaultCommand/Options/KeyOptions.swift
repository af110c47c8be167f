import ArgumentParser
import Synchronization
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultHTTP

/// Where keys come from; several sources are asked in their order.
struct KeyOptions: ParsableArguments {
    @Option(
        name: .customLong("keys"),
        help: ArgumentHelp(
            "Where keys come from: \(KeySpec.kinds). May be repeated.", valueName: "spec"))
    var specs: [String] = []

    @OptionGroup var service: KeyServiceOptions
    @OptionGroup var passphrase: PassphraseOption

    /// Nil when no source was given. A source is asked once for each key ID, and for a limited number of IDs: packs choose the IDs, and
    /// each answer of a command or service may take long.
    func cachedProvider() throws(VaultError) -> (any KeyProvider)? {
        try uncachedProvider().map { CachingKeyProvider($0) }
    }

    /// The same, asked each time, so that a key may arrive later.
    func uncachedProvider() throws(VaultError) -> (any KeyProvider)? {
        guard !specs.isEmpty else { return nil }
        let (open, passphrase) = (try service.opener(), try passphrase.source())
        return CombinedKeyProvider(
            try specs.map { text throws(VaultError) in
                try Self.spec(text).provider(opening: open, passphrase: passphrase)
            })
    }

    /// Keys are read only when a pack needs them: without this a typing error would show much later.
    func warnOfMissingSources() throws(VaultError) {
        for text in specs {
            guard let missing = try Self.spec(text).missing() else { continue }
            Console.note("warning: --keys: \(missing)")
        }
    }

    /// The request of an author who gives these keys.
    func request(at host: HostOptions) throws(VaultError) -> AuthorRequest {
        var request = AuthorRequest(keys: try cachedProvider(), now: .now)
        request.keyServices = try service.opener()
        request.host = try host.site()
        return request
    }

    /// Notes all sources that are named, also those that no pack needed, as secrets that no program inherits.
    func noteInherited() throws(VaultError) {
        for text in specs { _ = try Self.spec(text) }
        _ = try service.token()
        _ = try passphrase.source()
    }

    func required() throws(VaultError) -> any KeyProvider {
        if let provider = try cachedProvider() { return provider }
        throw Self.missing
    }

    static let missing = VaultError(
        .key, "no key was given", at: "--keys", remedy: "name a source, such as --keys file:vault.jwks")

    private static func spec(_ text: String) throws(VaultError) -> KeySpec {
        do { return try KeySpec(parsing: text) } catch { throw error.with(at: "--keys") }
    }
}

/// How a key service is asked.
struct KeyServiceOptions: ParsableArguments {
    @Option(
        name: .customLong("key-token"),
        help: ArgumentHelp(
            "Where the bearer token for a key service comes from: env:NAME, file:PATH or fd:N.",
            valueName: "token-source"))
    private var spec: String?

    @Option(
        name: .customLong("key-ca"),
        help: ArgumentHelp(
            "Trust only the TLS authorities in this file for a key service.", valueName: "pem"),
        completion: .file())
    private var authorities: String?

    /// Nil without the option.
    func token() throws(VaultError) -> PassphraseSource? {
        guard let spec else { return nil }
        do { return try PassphraseSource(parsing: spec, of: "token") } catch {
            throw error.with(at: "--key-token")
        }
    }

    func opener() throws(VaultError) -> KeySpec.ServiceOpener {
        let certificates = try authorities.map { path throws(VaultError) in
            try CertificateAuthorities(pem: FilePath(path))
        }
        var ask: ServiceKeyProvider.Token?
        if let token = try token() {
            ask = { () throws(VaultError) in try token.secret() }
        }
        return { [ask] url, passphrase throws(VaultError) in
            try .service(url, passphrase: passphrase, certificateAuthorities: certificates, token: ask)
        }
    }
}

/// Secrets that the system may write to its swap space.
enum SwapWarning {
    private static let isReported = Mutex(false)

    /// Warns once a run, before keys are read or made, that the system did not lock the memory for them. The work
    /// continues: machines without swap, or with encrypted swap, are not affected.
    static func report() {
        guard let reached = SecureHeap.reached, reached != .locked else { return }
        let isFirst = isReported.withLock { isReported in
            defer { isReported = true }
            return !isReported
        }
        guard isFirst else { return }
        Console.note(
            "warning: the system locks no memory for keys, so that they may reach its swap space; allow 1 MiB of locked memory (ulimit -l)"
        )
    }

    /// Warns that not all keys of this run had room in that memory.
    static func reportOverflow() {
        guard SecureHeap.reached == .locked, SecureHeap.hasOverflowed else { return }
        Console.note(
            "warning: the keys need more than 1 MiB of locked memory, so that some may reach the swap space of the system; give fewer keys at once"
        )
    }
}

/// Where the passphrase of encrypted key files comes from.
struct PassphraseOption: ParsableArguments {
    @Option(
        name: .customLong("passphrase"),
        help: ArgumentHelp(
            """
            Where the passphrase of encrypted key files comes from: env:NAME, file:PATH, fd:N, or ask. \
            Without it, it is asked for at the terminal.
            """,
            valueName: "passphrase-source"))
    var spec: String?

    /// One for the whole run: a pipe is read once, and nobody is asked twice for one file.
    private static let opened = Mutex<PassphraseSource?>(nil)

    func source() throws(VaultError) -> PassphraseSource {
        SwapWarning.report()
        return try Self.opened.withLock { opened throws(VaultError) in
            if let opened { return opened }
            let source = try made()
            opened = source
            return source
        }
    }

    private func made() throws(VaultError) -> PassphraseSource {
        guard let spec, spec != "ask" else {
            return PassphraseSource(encryptingNewFiles: spec != nil, asking: TerminalPassphrase.ask)
        }
        do { return try PassphraseSource(parsing: spec) } catch {
            throw error.with(at: "--passphrase").with(
                remedy: "use env:NAME, file:PATH, fd:N or ask; never the passphrase itself")
        }
    }
}

/// Asks for passphrases at the terminal, without echo.
enum TerminalPassphrase {
    static func ask(_ question: PassphraseSource.Question) throws(VaultError) -> SecretBytes {
        switch question {
        case .existing(let file): return try read("passphrase of \(file): ", for: file)
        case .new(let file):
            let first = try read("new passphrase of \(file): ", for: file)
            let second = try read("repeat the passphrase: ", for: file)
            let areEqual = first.withBytes { first in
                second.withBytes { SecretBytes.constantTimeEqual(first, $0) }
            }
            guard areEqual else {
                throw VaultError(.key, "the passphrases differ", at: file, remedy: "type the same twice")
            }
            return first
        }
    }

    private static func read(_ prompt: String, for file: String) throws(VaultError) -> SecretBytes {
        guard let terminal = Terminal() else {
            throw VaultError(
                .key, "a passphrase is needed, and there is no terminal to ask for it", at: file,
                remedy: "say where it comes from", hint: .passphrase)
        }
        return try SecretBytes(capacity: Terminal.lineLimit) { (buffer) throws(VaultError) in
            try terminal.readSecretLine(asking: prompt.escapingControls, into: &buffer)
        }
    }
}
