import ArgumentParser
import StrictJSON
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultErrors

struct Prune: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove files that no client needs any more from a site.",
        discussion: """
            What stays: every root; what unexpired metadata names; the last versions of each pack, with the metadata \
            that lists them, so that they can be restored; and what was live less than the grace time ago. Each file \
            that goes is named; --dry-run only names them. Remove the same files from your host, after the site was \
            uploaded.

            EXAMPLE
              assetvault prune my-game --keep 3 --grace 30d --dry-run
            """)

    @Argument(help: ArgumentHelp("The vault.", valueName: "vault"), completion: .directory)
    var vault: String

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
        let pruning = SitePruning(
            of: VaultFolder(FilePath(vault)), keeping: keep, grace: try days(), now: .now)
        let plan = dryRun ? try await pruning.plan() : try await pruning.run()
        let report = PruneReport(plan: plan, isDryRun: dryRun)
        report.answer(asJSON: json)
        if !json { report.explain() }
    }

    private func days() throws(VaultError) -> Int {
        let digits = grace.hasSuffix("d") ? String(grace.dropLast()) : grace
        if let days = Int(digits), (0...36_500).contains(days) { return days }
        throw VaultError(
            .usage, "'\(grace)' is no number of days", at: "--grace", remedy: "write it as 30d")
    }
}
