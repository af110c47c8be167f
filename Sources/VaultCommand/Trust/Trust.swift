import ArgumentParser
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem

struct Trust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Show and change who signs for a site.",
        discussion: """
            The root names the keys of each role, and how many of them must sign. A change makes the next \
            root; clients follow it by themselves. Keys are Ed25519 in PKCS#8 PEM, as 'openssl genpkey \
            -algorithm ed25519' makes them; each PEM file in keys/ signs for whatever role the root names it \
            for. Files that need keys kept elsewhere wait in pending/: sign them with 'trust sign', then \
            publish. A machine without site/ continues from the host with --against, and writes only new \
            files into site/, to be uploaded.

            EXAMPLE
              assetvault trust show my-game
            """,
        subcommands: [
            TrustShow.self, TrustSign.self, TrustAddKey.self, TrustRemoveKey.self, TrustThreshold.self,
            TrustRotate.self, TrustRefresh.self,
        ])
}

/// The vault whose trust is changed.
struct TrustOptions: ParsableArguments {
    @OptionGroup var vault: VaultArgument
    @OptionGroup var passphrase: PassphraseOption
    @OptionGroup var host: HostOptions

    func change() throws(VaultError) -> TrustChange {
        var request = AuthorRequest(keys: nil, now: .now)
        request.host = try host.site()
        return TrustChange(of: try vault.folder(passphrase), request)
    }
}

extension MetadataReport {
    /// Prints the warnings, and what was written.
    func answer() {
        Console.warn(of: warnings)
        if !written.isEmpty || warnings.isEmpty { Console.wrote(written) }
    }
}

struct TrustAddKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add-key",
        abstract: "Add a key to a role.",
        discussion: """
            EXAMPLE
              assetvault trust add-key my-game targets colleague.pub.pem
            """)

    @OptionGroup var options: TrustOptions
    @OptionGroup var role: RoleArgument

    @Argument(
        help: ArgumentHelp("A public key in PEM: Ed25519, ECDSA on P-256 or RSA.", valueName: "key"),
        completion: .file(extensions: ["pem"]))
    var key: String

    func run() async throws {
        let pem = try DurableFile.read(FilePath(key), limit: 1 << 16)
        guard let key = VerifyingKey(pem: pem.span) else {
            throw VaultError(
                .key, "it is not a public key in PEM of a supported kind", at: key,
                remedy: "get it by 'openssl pkey -in KEY.pem -pubout'")
        }
        try await options.change().apply(.addKey(key, to: role.role)).answer()
    }
}

struct TrustRemoveKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove-key",
        abstract: "Remove a key from a role.",
        discussion: """
            EXAMPLE
              assetvault trust remove-key my-game targets 5822582e7072996c
            """)

    @OptionGroup var options: TrustOptions
    @OptionGroup var role: RoleArgument

    @Argument(
        help: ArgumentHelp("The beginning of the key's ID, as 'trust show' names it.", valueName: "key-id"))
    var keyID: String

    func run() async throws {
        try await options.change().apply(.removeKey(keyID, from: role.role)).answer()
    }
}

struct TrustThreshold: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "threshold",
        abstract: "Set how many keys must sign for a role.",
        discussion: """
            EXAMPLE
              assetvault trust threshold my-game root 2
            """)

    @OptionGroup var options: TrustOptions
    @OptionGroup var role: RoleArgument

    @Argument(help: ArgumentHelp("From 1 on.", valueName: "n"))
    var threshold: Int

    func run() async throws {
        try await options.change().apply(.threshold(threshold, of: role.role)).answer()
    }
}

/// The top-level role that is changed.
struct RoleArgument: ParsableArguments {
    private static let names = TopLevelRole.allCases.map(\.rawValue)

    @Argument(
        help: "root, timestamp, snapshot or targets.", completion: .list(names),
        transform: { text in
            if let role = TopLevelRole(rawValue: text) { return role }
            throw ValidationError(
                "a role is root, timestamp, snapshot or targets"
                    + Suggestion.question(for: text, among: names))
        })
    var role: TopLevelRole
}

struct TrustRotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Replace a role's key by a fresh one.",
        discussion: """
            Makes a key in keys/, signs the role's metadata with the old and the new key, and publishes the \
            root that names the new one. The next publication drops the old signatures. The old key's file \
            stays, named by its ID; remove it when the new root is uploaded. With --passphrase the fresh key \
            is encrypted.

            EXAMPLE
              assetvault trust rotate my-game timestamp
            """)

    @OptionGroup var options: TrustOptions
    @OptionGroup var role: RoleArgument

    func run() async throws {
        try await options.change().rotate(role.role).answer()
    }
}

struct TrustRefresh: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Sign a new timestamp, and nothing else.",
        discussion: """
            Renews an unchanged site, for example from cron: it needs only the timestamp's key and one small \
            upload. With --against it refuses a host whose timestamp or snapshot has expired (exit code 76), \
            which may be an old state: refresh in the vault that has site/, or publish.

            EXAMPLE
              assetvault trust refresh my-game
            """)

    @OptionGroup var options: TrustOptions

    func run() async throws {
        try await options.change().refresh().answer()
    }
}

struct TrustSign: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Add signatures to metadata that waits for them.",
        discussion: """
            Works where the keys are kept, without the vault: take a file from the vault's pending/ there, \
            sign it, and bring it back; then publish. Where several people sign copies, --merge takes over \
            their signatures.

            EXAMPLE
              assetvault trust sign pending/2.root.json --key /media/safe/root.pem
              assetvault trust sign pending/2.root.json --merge from-alice/2.root.json
            """)

    @Argument(
        help: ArgumentHelp("The file to sign; it is written again.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var file: String

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp("A private key to sign with, in PEM. May be repeated.", valueName: "pem"),
        completion: .file(extensions: ["pem"]))
    var keys: [String] = []

    @Option(
        name: .customLong("merge"),
        help: ArgumentHelp(
            "A copy of the file that was signed elsewhere. May be repeated.", valueName: "copy"))
    var copies: [String] = []

    @OptionGroup var passphrase: PassphraseOption

    func run() async throws {
        guard !(keys + copies).isEmpty else {
            throw VaultError(
                .usage, "there is nothing to sign with", at: "trust sign", remedy: "give --key or --merge")
        }
        let report = try DetachedSigning(of: FilePath(file)).run(
            keys: keys.map { FilePath($0) }, copies: copies.map { FilePath($0) },
            passphrase: try passphrase.source())
        for line in report.content { Console.note("  \(line)") }
        Console.note(
            "\(file): \(report.role) version \(report.version), expires \(report.expires), has signatures of \(report.signingKeys.counting("key")), which 'publish' verifies"
        )
    }
}
