import ArgumentParser
import SealedPack
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultFileSystem

struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Give held packs to all for whom they are declared, in all channels.",
        discussion: """
            A pack or resource tree with "held": true in vault.json is published, downloaded and verified as \
            any other, and only the author's key opens it: 'keys add VAULT --audience held' makes this key. \
            With "held": ["press"] the audience 'press' reads it before. 'release' takes the member out of \
            vault.json and adds the slots for its audiences: a few hundred bytes of metadata open it \
            everywhere, and nobody downloads the pack again. Upload afterwards.

            Nothing in a published key can enforce a time, so --at prints a line for cron that releases and \
            uploads at that time.

            EXAMPLE
              assetvault release my-game levels/finale --dry-run
              assetvault release my-game levels/finale
            """)

    @OptionGroup var vault: VaultArgument

    @Argument(help: ArgumentHelp("Held packs and resource trees.", valueName: "id"))
    var ids: [String]

    @Option(
        name: .customLong("at"),
        help: ArgumentHelp(
            """
            Print a line for cron that releases at this time (UTC), and change nothing: such as \
            2027-03-01T18:00:00Z.
            """,
            valueName: "time"))
    var time: String?

    @OptionGroup var options: RelistingOptions

    func validate() throws {
        if time != nil, options.dryRun { throw ValidationError("--at and --dry-run exclude each other") }
    }

    func run() async throws {
        let ids = try ids.map { text throws(VaultError) in try PackID(text) }
        let folder = try vault.folder(options.keys.passphrase)
        var request = try options.request()
        if let time {
            request.isDryRun = true
            return try await printCronLine(for: Release(of: ids, request), in: folder, at: time)
        }
        let report = try await Release(of: ids, request).run(in: folder)
        report.answerWithAdvice(asJSON: options.json, isDryRun: options.dryRun)
    }

    /// - Parameter release: a dry run.
    private func printCronLine(
        for release: Release, in folder: VaultFolder, at text: String
    ) async throws(VaultError) {
        guard let time = UTCTime(text) else {
            throw VaultError(
                .usage, "'\(text.excerpt)' is not a time", at: "--at",
                remedy: "write it as 2027-03-01T18:00:00Z")
        }
        guard time > .now else {
            throw VaultError(
                .usage, "\(time) is not in the future", at: "--at",
                remedy: "release without this option, or name a later time")
        }
        // It fails now rather than in cron.
        _ = try await release.run(in: folder)
        let program = try FilePath.ofThisProgram.string
        let site = try folder.path.absolute.appending("site").string
        let line = [
            ["cd", try FilePath(".").absolute.string], [program] + Self.wordsWithoutTime,
            [program, "upload", site],
        ].map { $0.map(\.quotedForShell).joined(separator: " ") }.joined(separator: " && ")
        let local = WallClock.localFields(atSecondsSince1970: time.secondsSince1970)
        // Cron knows no years: in another one the line does nothing.
        let guarded = "test $(date -u +%Y) -eq \(time.description.prefix(4)) && \(line)"
        // Cron ends a line at '%'.
        Console.answer(
            "\(local.minute) \(local.hour) \(local.day) \(local.month) * \(guarded.replacing("%", with: "\\%")) DESTINATION"
        )
        Console.note(
            "nothing was signed or written; put the line into a crontab of this machine, with the place that 'upload' takes as DESTINATION"
        )
    }

    /// The command as it was given, with all its options but the time.
    private static var wordsWithoutTime: [String] {
        var words = Array(CommandLine.arguments.dropFirst())
        if let index = words.firstIndex(where: { $0 == "--at" || $0.hasPrefix("--at=") }) {
            words.removeSubrange(index..<min(index + (words[index] == "--at" ? 2 : 1), words.endIndex))
        }
        return words
    }
}
