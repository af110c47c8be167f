import ArgumentParser
import StrictJSON
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultErrors
import VaultFileSystem

struct Prune: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove files that no client needs any more from a site.",
        discussion: """
            What stays: every root; what unexpired metadata names; the last versions of each pack, with the metadata \
            that lists them, so that they can be restored; and what was live less than the grace time ago. Each file \
            that goes is named; --dry-run only names them. Remove the same files from your host, after the site was \
            uploaded; or prune the host's folder itself, with the root that clients pin, while nobody uploads into it.

            EXAMPLE
              assetvault prune my-game --keep 3 --grace 30d --dry-run
              assetvault prune /srv/game --trust trusted-root.json --dry-run
            """)

    @Argument(
        help: ArgumentHelp("The vault, or with --trust a site's folder.", valueName: "vault-or-site"),
        completion: .directory)
    var folder: String

    @OptionGroup var trust: TrustedRootOption

    @Option(help: ArgumentHelp("Number of versions of each pack to keep.", valueName: "n"))
    var keep = 3

    @Option(help: ArgumentHelp("How long what was live stays afterwards, in days.", valueName: "days"))
    var grace = "30d"

    @Flag(help: "Name the files, and remove nothing.")
    var dryRun = false

    @Flag(help: "Print a report as JSON.")
    var json = false

    func run() async throws {
        guard keep >= 1 else {
            throw VaultError(.usage, "\(keep) versions are too few", at: "--keep", remedy: "keep at least 1")
        }
        let pruning = try pruning()
        let plan = dryRun ? try await pruning.plan() : try await pruning.run()
        let report = PruneReport(plan: plan, isDryRun: dryRun)
        report.answer(asJSON: json)
        if !json { report.explain() }
    }

    private func pruning() throws(VaultError) -> SitePruning {
        let path = FilePath(folder)
        if let root = try trust.root() {
            try path.requireSite()
            return SitePruning(ofSite: path, pinnedRoot: root, keeping: keep, grace: try days(), now: .now)
        }
        let vault = VaultFolder(path)
        if try !FileSystem.exists(vault.settings), try FileSystem.exists(path.appending("metadata")) {
            throw VaultError(
                .usage, "this is a site's folder, which does not say whose it is", at: folder,
                remedy: "give --trust with the root that clients pin, or name the vault")
        }
        return SitePruning(of: vault, keeping: keep, grace: try days(), now: .now)
    }

    private func days() throws(VaultError) -> Int {
        let digits = grace.hasSuffix("d") ? String(grace.dropLast()) : grace
        if let days = Int(digits), (0...36_500).contains(days) { return days }
        throw VaultError(
            .usage, "'\(grace)' is no number of days", at: "--grace", remedy: "write it as 30d")
    }
}
