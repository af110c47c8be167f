import ArgumentParser
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultHTTP
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
        let site = try isVault ? SiteLocation(path: vault.site) : SiteLocation(subject)
        if !isVault, let path = site.path, try !FileSystem.exists(path) { throw path.noSuch("vault or site") }
        if isVault, try !FileSystem.exists(vault.trustedRoot) {
            throw VaultError(
                .usage, "a team's vault has no root of its own", at: subject,
                remedy: "show the vault or the site that lists the team")
        }
        let pinned = try trust.root() ?? (isVault ? TrustedRootOption.root(at: vault.trustedRoot) : nil)
        // Expired metadata are shown, too.
        let tree = try await TargetTree.verifying(
            Site(site, transport: SchemeTransport()), pinnedRoot: pinned, now: .earliest)
        let lifetime = try isVault ? VaultSettings(reading: vault.settings).lifetime : MetadataLifetime()
        let summary = TrustSummary(of: tree, lifetime: lifetime, now: .now)
        summary.answer(asJSON: json)
        if json { return }
        if isVault {
            for name in try vault.pendingFiles() {
                Console.note("\(vault.pending)/\(name) waits for signatures")
            }
        }
        Console.warn(of: summary.warnings)
    }
}

extension TrustSummary: Report {
    var columns: [Column<Self>] {
        [
            .table("roles", Role.columns) { $0.roles },
            .texts("warnings") { $0.warnings.map(\.worded) },
        ]
    }
}

extension TrustSummary.Role {
    fileprivate static var columns: [Column<Self>] {
        [
            .text("role") { $0.role.name }, .words { "\($0.role)" },
            .number("version", "version %") { $0.version },
            .text("expires", "expires %") { $0.expires },
            .number("daysLeft") { $0.daysLeft }, .words(", % days left") { "\(max(0, $0.daysLeft))" },
            .flag("isDue") { $0.isDue }, .number("threshold", "%") { $0.trust.threshold },
            .words(" of % keys") { "\($0.trust.keys.count)" },
            .table("keys", [.text("id", "  %") { $0.id }, .text("kind", "%") { $0.key.kind }]) {
                $0.trust.keys
            },
            .texts("grantedTags") { $0.grantedTags },
            .lines { role in
                guard let tags = role.grantedTags else { return [] }
                return ["  tags: \(tags.isEmpty ? "none" : tags.joined(separator: ", "))"]
            },
        ]
    }
}

extension VerifyingKey {
    fileprivate var kind: String {
        switch scheme {
        case .ed25519: "Ed25519"
        case .ecdsaP256SHA256: "ECDSA P-256"
        case .rsaPSSSHA256: "RSA-PSS"
        }
    }
}
