import ArgumentParser
import StrictJSON
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultCrypto
import VaultErrors
import VaultFileSystem
import VaultSite
import VaultTransport

struct TrustShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show who signs for a site, and until when its metadata are valid.",
        discussion: """
            EXAMPLE
              assetvault trust show my-game
              assetvault trust show https://packs.example.com --trust trusted-root.json
            """)

    @Argument(
        help: ArgumentHelp("A vault, or a site: a folder or URL.", valueName: "vault-or-site"),
        completion: .directory)
    var subject: String

    @OptionGroup var trust: TrustedRootOption

    @Flag(help: "Print a report as JSON.")
    var json = false

    func run() async throws {
        let vault = VaultFolder(FilePath(subject))
        let isVault = try FileSystem.exists(vault.settings)
        if !isVault, !subject.contains("://"), try !FileSystem.exists(FilePath(subject)) {
            throw VaultError(
                .missing, "there is no vault or site here", at: subject, remedy: "check the path or URL")
        }
        if isVault, try !FileSystem.exists(vault.trustedRoot) {
            throw VaultError(
                .usage, "a team's vault has no root of its own", at: subject,
                remedy: "show the vault or the site that lists the team")
        }
        let site = try isVault ? SiteLocation(path: vault.site) : SiteLocation(subject)
        let pinned = try trust.root() ?? (isVault ? TrustedRootOption.root(at: vault.trustedRoot) : nil)
        // Expired metadata are shown, too.
        let tree = try await TargetTree.verifying(
            Site(site, transport: SchemeTransport()), pinnedRoot: pinned, now: .earliest)
        let lifetime = try isVault ? VaultSettings(reading: vault.settings).lifetime : MetadataLifetime()
        let summary = TrustSummary(of: tree, lifetime: lifetime, now: .now)
        if json { return Console.answer(bytes: JSONValue.object(summary.json).pretty()) }
        for role in summary.roles {
            Console.answer(
                "\(role.role)  version \(role.version)  expires \(role.expires), \(max(0, role.daysLeft)) days left  \(role.trust.threshold) of \(role.trust.keys.count) keys"
            )
            for key in role.trust.keys { Console.answer("  \(key.id)  \(key.key.kind)") }
        }
        if isVault {
            for name in try vault.pendingFiles() {
                Console.note("\(vault.pending)/\(name) waits for signatures")
            }
        }
        for warning in summary.warnings { Console.note("warning: \(warning)") }
    }
}

extension TrustSummary {
    fileprivate var json: JSONObject {
        let list = roles.map { role in
            JSONValue.object([
                "role": .string(role.role.name), "version": .integer(role.version),
                "expires": .string(role.expires.description), "daysLeft": .integer(role.daysLeft),
                "isDue": .bool(role.isDue), "threshold": .integer(Int64(role.trust.threshold)),
                "keys": .array(
                    role.trust.keys.map {
                        ["id": .string($0.id.description), "kind": .string($0.key.kind)]
                    }),
            ])
        }
        return ["roles": .array(list), "warnings": .array(warnings.map { .string($0) })]
    }
}

extension VerifyingKey {
    /// As text.
    fileprivate var kind: String {
        switch scheme {
        case .ed25519: "Ed25519"
        case .ecdsaP256SHA256: "ECDSA P-256"
        case .rsaPSSSHA256: "RSA-PSS"
        }
    }
}
