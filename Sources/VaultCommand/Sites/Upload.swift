import ArgumentParser
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase

struct Upload: LongCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Upload a site to its host: into a folder, or through rclone or rsync.",
        discussion: """
            A destination is a folder (write one with a colon as ./a:b); REMOTE:PATH, as your rclone takes \
            it; or rsync: and what your rsync takes, such as rsync:web@host:/srv/game or \
            rsync://host/module. Both tools run with your configuration and environment.

            The site is verified first; what its folder does not have, as on a CI runner, must be at the \
            destination. Packs are sent first, then the metadata that names them, and the timestamp when all \
            that was sent has been read back. So clients see the old site or the new one, also when it is \
            interrupted: then run it again.

            Nothing is removed but with --prune: packs and earlier metadata that the site, which must be \
            whole, does not have any more, and that no unexpired metadata of either side names; never roots \
            or files of other names. No other upload may run meanwhile.

            Exit code 76: the site does not verify, or it is older than what the host has: publish again \
            with --against. 75: another publisher has taken a version's number, or uploads at the same time: \
            publish again with --against, too. 65: a file of the site is damaged or missing, or the \
            destination's metadata are damaged. 69: the host or the tool fails, or what was sent does not \
            read back.

            EXAMPLE
              assetvault upload my-game/site /srv/game
              assetvault upload my-game/site packs:my-bucket/game --dry-run
              assetvault upload my-game/site rsync:web@host:/srv/game --prune --json
            """)

    @Argument(
        help: ArgumentHelp("The site's folder, such as VAULT/site.", valueName: "site"),
        completion: .directory)
    var site: String

    @Argument(
        help: ArgumentHelp("A folder, REMOTE:PATH for rclone, or rsync:ADDRESS.", valueName: "destination"),
        completion: .directory)
    var destination: String

    @OptionGroup var trust: TrustedRootOption

    @Flag(
        help: ArgumentHelp(
            "Also remove at the destination, at last, what 'assetvault prune' has removed from the site."))
    var prune = false

    @Flag(help: "Print what would be sent and removed, and change nothing.")
    var dryRun = false

    @OptionGroup var progress: ProgressOption

    @Flag(help: "Print a report as JSON.")
    var json = false

    func run() async throws {
        let folder = FilePath(site)
        try folder.requireSite()
        let scratch = FilePath.temporaryFolder
        let upload = SiteUpload(
            of: folder, to: try UploadDestinations.destination(named: destination, scratch: scratch),
            pinnedRoot: try trust.root(), scratch: scratch, now: .now, prunes: prune)
        let bar = ProgressBar()
        defer { bar.finish() }
        let report = dryRun ? try await upload.plan(bar.show) : try await upload.run(bar.show)
        bar.finish()
        Console.warn(of: report.warnings)
        report.answer(asJSON: json)
    }
}

extension UploadReport: Report {
    var columns: [Column<Self>] {
        [
            .words { $0.work }, .words("; %") { $0.removal },
            .number("timestamp", "; timestamp version %") { $0.version },
            .number("earlierTimestamp") { $0.earlierVersion }.orNull, .words(", %") { $0.before },
            .text("destination") { $0.destination }, .flag("dryRun") { $0.isDryRun },
            .number("files") { $0.files.count }, .number("bytes") { $0.length },
            .number("removedBytes") { $0.removedLength },
            .table("sent", SiteFile.columns) { $0.files }, .table("removed", SiteFile.columns) { $0.removed },
            .texts("warnings") { $0.warnings.map(\.worded) },
        ]
    }

    private var removal: String? {
        guard !removed.isEmpty else { return nil }
        let verb = isDryRun ? "would remove" : "removed"
        return "\(verb) \(removed.count.counting("file")), \(removedLength.counting("byte"))"
    }

    private var work: String {
        if files.isEmpty { return "nothing to send: all files are there, by name and length" }
        return
            "\(isDryRun ? "would send" : "sent") \(files.count.counting("file")), \(length.counting("byte"))"
    }

    private var before: String {
        earlierVersion.map { $0 == version ? "as before" : "after \($0)" } ?? "the first one"
    }
}

extension SiteFile {
    static var columns: [Column<Self>] { [.text("path") { $0.path }, .number("length") { $0.length }] }
}
