import ArgumentParser
import StrictJSON
import SystemPackage
import UpdateFramework
import VaultAuthoring
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
        summary.answer(asJSON: json)
        if json { return }
        if isVault {
            for name in try vault.pendingFiles() {
                Console.note("\(vault.pending)/\(name) waits for signatures")
            }
        }
        for warning in summary.warnings { Console.note("warning: \(warning.worded)") }
    }
}
