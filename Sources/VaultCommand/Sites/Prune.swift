import ArgumentParser
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultFileSystem
import VaultSite

struct Prune: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove files that no client needs any more from a site.",
        discussion: """
            These files stay: every root; files that unexpired metadata names; the last versions of each \
            pack, with the metadata that lists them, so that they can be restored; and files that were live \
            less than the grace time ago. Each removed file is named; --dry-run only names them. 'assetvault \
            upload --prune' removes the same files from your host; or prune the host's folder itself, with \
            the root that clients pin, while no upload into it runs.

            --against plans from the metadata of a host, on a machine without site/: it names the files that \
            the host need no longer have, and removes nothing, since a host removes no file on request. \
            Remove them there as you upload, such as with 'rclone delete'. Packs that are gone already may \
            be named again.

            EXAMPLE
              assetvault prune my-game --keep 3 --grace 30d --dry-run
              assetvault prune /srv/game --trust trusted-root.json --dry-run
            """)

    @Argument(
        help: ArgumentHelp("The vault, or with --trust a site's folder.", valueName: "vault-or-site"),
        completion: .directory)
    var folder: String

    @OptionGroup var trust: TrustedRootOption

    @OptionGroup var retention: RetentionOptions
    @OptionGroup var host: HostOptions

    @Flag(help: "Name the files, and remove nothing.")
    var dryRun = false

    @Flag(help: "Print a report as JSON.")
    var json = false

    func run() async throws {
        try retention.requirePossible()
        let host = try host.site()
        let plan = try await plan(at: host)
        PruneReport(plan: plan, isDryRun: dryRun || host != nil).answer(asJSON: json)
        if host != nil, !plan.removals.isEmpty {
            Console.note("nothing was removed: a host removes no file on request; remove these there")
        }
    }

    private func plan(at host: Site?) async throws(VaultError) -> SitePruning.Plan {
        guard let host else {
            let pruning = try pruning()
            return dryRun ? try await pruning.plan() : try await pruning.run()
        }
        guard try trust.root() == nil else {
            throw VaultError(
                .usage, "--trust prunes a folder, and --against plans for a host", at: "--against",
                remedy: "give one of them")
        }
        return try await SitePruning(
            of: VaultFolder(FilePath(folder)), at: host, keeping: retention.keep, grace: retention.grace.days,
            now: .now
        ).plan()
    }

    private func pruning() throws(VaultError) -> SitePruning {
        let path = FilePath(folder)
        if let root = try trust.root() {
            try path.requireSite()
            return SitePruning(
                ofSite: path, pinnedRoot: root, keeping: retention.keep, grace: retention.grace.days,
                now: .now)
        }
        let vault = VaultFolder(path)
        if try !FileSystem.exists(vault.settings), try FileSystem.exists(path.appending("metadata")) {
            throw VaultError(
                .usage, "this is a site's folder, which does not name its vault", at: folder,
                remedy: "give --trust with the root that clients pin, or name the vault")
        }
        return SitePruning(of: vault, keeping: retention.keep, grace: retention.grace.days, now: .now)
    }
}

/// What stays of a site that is pruned, though it is not part of what is published now.
struct RetentionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Number of versions of each pack to keep.", valueName: "n"))
    var keep = 3

    @Option(
        help: ArgumentHelp("How long files that were live are kept afterwards, in days.", valueName: "days"))
    var grace = DayCount(days: 30)

    func requirePossible() throws(VaultError) {
        guard keep < 1 else { return }
        throw VaultError(.usage, "\(keep) versions are too few", at: "--keep", remedy: "keep at least 1")
    }
}

/// The files to remove from a site, and the unpublished files that stay.
struct PruneReport: Report {
    let plan: SitePruning.Plan
    let isDryRun: Bool

    var columns: [Column<Self>] {
        [
            .table("removed", [.text("path", "%") { $0.path }, .number("length") { $0.length }]) {
                $0.plan.removals
            },
            .table(
                "kept",
                [.text("path") { $0.path }, .number("length") { $0.length }, .text("reason") { $0.reason }]
            ) { $0.plan.kept },
            .flag("dryRun") { $0.isDryRun },
        ]
    }

    /// The number of files that stay, by reason, and of those to remove.
    var notes: [String] {
        var notes = plan.kept.isEmpty ? ["every other file is part of what is published now"] : []
        var reasons: [KeepingReason] = []
        for file in plan.kept where !reasons.contains(file.reason) { reasons.append(file.reason) }
        for reason in reasons {
            notes.append("\(reason): \(Self.sum(plan.kept.filter { $0.reason == reason }.map(\.length)))")
        }
        return notes + ["\(isDryRun ? "would remove" : "removed") \(Self.sum(plan.removals.map(\.length)))"]
    }

    private static func sum(_ lengths: [UInt64]) -> String {
        "\(lengths.count.counting("file")), \(lengths.saturatingSum { $0 }) bytes"
    }
}
