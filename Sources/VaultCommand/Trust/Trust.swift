import ArgumentParser
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultCrypto
import VaultErrors
import VaultFileSystem

struct Trust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Show and change who signs for a site.",
        discussion: """
            The root names the keys of each role, and how many of them must sign. A change makes the next root; clients \
            follow it by themselves. Keys are Ed25519 in PKCS#8 PEM, as 'openssl genpkey -algorithm ed25519' makes them; \
            each PEM file in keys/ signs for whatever role the root names it for. What needs keys that are kept \
            elsewhere waits in pending/: sign it there with 'trust sign', then publish. A machine without site/ goes on from \
            the host with --against, and writes only new files into site/, to be uploaded.

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
    @OptionGroup var signing: SigningOptions
    @OptionGroup var host: HostOptions

    func change() throws(VaultError) -> TrustChange {
        var change = TrustChange(
            of: vault.folder, passphrase: try signing.passphrase(), now: .now)
        change.host = try host.site()
        return change
    }
}

extension MetadataReport {
    func tell() {
        for warning in warnings { Console.note("warning: \(warning.worded)") }
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
                .key, "it is no public key in PEM of a supported kind", at: key,
                remedy: "get it by 'openssl pkey -in KEY.pem -pubout'")
        }
        try await options.change().apply(.addKey(key, to: role.role)).tell()
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
        try await options.change().apply(.removeKey(keyID, from: role.role)).tell()
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
        try await options.change().apply(.threshold(threshold, of: role.role)).tell()
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
