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

            --against plans from the metadata of a host, on a machine without site/: it names the files that the host need no longer \
            have, and removes nothing, since a host removes no file on request. Remove them there as you upload, such as with \
            'rclone delete'. Packs that are gone already may be named again.

            EXAMPLE
              assetvault prune my-game --keep 3 --grace 30d --dry-run
            """)

    @Argument(help: ArgumentHelp("The vault.", valueName: "vault"), completion: .directory)
    var vault: String

    @Option(help: ArgumentHelp("Number of versions of each pack to keep.", valueName: "n"))
    var keep = 3

    @Option(help: ArgumentHelp("How long what was live stays afterwards, in days.", valueName: "days"))
    var grace = "30d"

    @OptionGroup var host: HostOptions

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
        let plan: SitePruning.Plan
        let site = try host.site()
        if let site {
            plan = try await pruning.plan(at: site)
        } else {
            plan = dryRun ? try await pruning.plan() : try await pruning.run()
        }
        let report = PruneReport(plan: plan, isDryRun: dryRun || site != nil)
        report.answer(asJSON: json)
        if !json { report.explain() }
        if site != nil, !plan.removals.isEmpty {
            Console.note("nothing was removed: a host removes no file on request; remove these there")
        }
    }

    private func days() throws(VaultError) -> Int {
        let digits = grace.hasSuffix("d") ? String(grace.dropLast()) : grace
        if let days = Int(digits), (0...36_500).contains(days) { return days }
        throw VaultError(
            .usage, "'\(grace)' is no number of days", at: "--grace", remedy: "write it as 30d")
    }
}
