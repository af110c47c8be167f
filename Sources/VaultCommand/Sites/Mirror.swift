import ArgumentParser
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultSite
import VaultTransport

struct Mirror: LongCommand {
    static let configuration = CommandConfiguration(
        commandName: "mirror",
        abstract: "Make a folder a verified copy of a site, without keys.",
        discussion: """
            All roots, the newest metadata, and all packs that these list; each pack is verified before it \
            gets its name. Only what is missing or damaged is fetched, of a new version only new pieces, and \
            an interrupted copy continues. Packs come first and the timestamp last, so that clients of the \
            folder see the old state or the new one at any time. Each run reads all packs of the copy, as \
            fast as SHA-256, so that damage is found and repaired.

            The first time --trust names the root that the site is verified from; then the copy's own first \
            root counts. --prune removes afterwards what 'prune DIR --trust' removes.

            Exit code 76: the site does not verify, has expired, or is older than the copy. 65: the host \
            sends other bytes than were signed. 72: it does not have a listed file. 75: another process \
            writes the copy. 73: the folder has other files.

            EXAMPLE
              assetvault mirror https://cdn.example.com/game copy --trust trusted-root.json
              assetvault mirror https://cdn.example.com/game /srv/game --prune --quiet
            """)

    @Argument(
        help: ArgumentHelp("The site: https, http or file URL, or a folder.", valueName: "site"),
        completion: .directory)
    var site: String

    @Argument(
        help: ArgumentHelp("The copy: a new or empty folder, or an earlier copy.", valueName: "dir"),
        completion: .directory)
    var folder: String

    @OptionGroup var trust: TrustedRootOption
    @OptionGroup var connection: TransportOptions

    @Flag(help: "Remove files that no client needs any more.")
    var prune = false

    @OptionGroup var retention: RetentionOptions

    @Flag(help: "Print what would be fetched, and change nothing.")
    var dryRun = false

    @OptionGroup var progress: ProgressOption

    @Flag(help: "Print nothing unless a file was fetched or removed, or there is a warning.")
    var quiet = false

    @Flag(help: "Print a report as JSON.")
    var json = false

    private var pruning: SiteMirror.Pruning? {
        get throws(VaultError) {
            try retention.requirePossible()
            return prune ? SiteMirror.Pruning(keeping: retention.keep, grace: retention.grace.days) : nil
        }
    }

    func run() async throws {
        let location = try SiteLocation(site)
        if let folder = location.path { try folder.requireSite() }
        let mirror = SiteMirror(
            of: Site(location, transport: try connection.transport()), in: FilePath(folder),
            pinnedRoot: try trust.root(), scratch: .temporaryFolder, now: .now)
        let bar = ProgressBar()
        defer { bar.finish() }
        let report =
            dryRun
            ? try await mirror.plan(bar.show)
            : try await mirror.run(pruning: try pruning, bar.show)
        bar.finish()
        Console.warn(of: report.warnings)
        if !quiet || report.hasChanges { report.answer(asJSON: json) }
    }
}

extension MirrorReport: Report {
    var columns: [Column<Self>] {
        [
            .words { $0.work },
            .words("; %") { $0.keptCount > 0 ? "\($0.keptCount.counting("file")) verified" : nil },
            .number("timestamp", "; timestamp version %") { $0.version },
            .number("earlierTimestamp") { $0.earlierVersion }.orNull, .text("folder") { $0.folder },
            .flag("dryRun") { $0.isDryRun }, .number("files") { $0.files.count },
            .number("verified") { $0.keptCount }, .number("bytes") { $0.fetchedBytes },
            .table("fetched", SiteFile.columns) { $0.files },
            .table("removed", [.text("path", "removed  %") { $0.path }, .number("length") { $0.length }]) {
                $0.pruned?.removals ?? []
            },
            .texts("warnings") { $0.warnings.map(\.worded) },
        ]
    }

    /// Whether a listed file was fetched or removed, or would be.
    fileprivate var hasChanges: Bool { !files.isEmpty || pruned?.removals.isEmpty == false }

    private var work: String {
        let count = files.count.counting("file")
        if files.isEmpty { return "nothing to fetch" }
        return isDryRun
            ? "would fetch \(count), at most \(fetchedBytes.counting("byte"))"
            : "fetched and verified \(count), \(fetchedBytes.counting("byte"))"
    }
}
