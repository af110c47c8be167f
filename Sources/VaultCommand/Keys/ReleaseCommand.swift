import ArgumentParser
import SealedPack
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto

struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Give held packs to all for whom they are declared, in all channels.",
        discussion: """
            A pack or resource tree with "held": true in vault.json is published, downloaded and verified as any other, and only the \
            author's key opens it: 'keys add VAULT --audience held' makes this key. With "held": ["press"] the audience 'press' reads \
            it before. 'release' takes the member out of vault.json and adds the slots for its audiences: a few hundred bytes of \
            metadata open it everywhere, and nobody downloads the pack again. Upload afterwards.

            A time can't be enforced by a key that is published: --at prints a line for cron that releases and uploads then.

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
            "Print a line for cron that releases at this time (UTC), and change nothing: such as 2027-03-01T18:00:00Z.",
            valueName: "time"))
    var time: String?

    @OptionGroup var options: RelistingOptions

    func run() async throws {
        let release = Release(
            of: try ids.map { text throws(VaultError) in try PackID(text) },
            try options.keys.request(at: options.host))
        let folder = try vault.folder(options.keys.passphrase)
        if let time { return try await printCronLine(for: release, in: folder, at: time) }
        let report = try await options.dryRun ? release.preview(in: folder) : release.run(in: folder)
        report.answerWithAdvice(asJSON: options.json, isDryRun: options.dryRun)
    }

    private func printCronLine(
        for release: Release, in folder: VaultFolder, at text: String
    ) async throws(VaultError) {
        guard let time = UTCTime(text), time > .now else {
            throw VaultError(
                .usage, "'\(text.excerpt)' is not a future time", at: "--at",
                remedy: "write it as 2027-03-01T18:00:00Z")
        }
        // What can't be released is said today.
        _ = try await release.preview(in: folder)
        // Of year, month, day, hour, minute and second. Cron knows no years; a later run ends with an error, since nothing is held.
        let fields = time.description.split { !$0.isNumber }.compactMap { Int($0) }
        let schedule = fields.dropFirst().prefix(4).reversed().map(String.init).joined(separator: " ")
        let path = try folder.path.absolute
        Console.answer(
            "\(schedule) * assetvault release '\(path)' \(ids.joined(separator: " ")) && assetvault upload '\(path)/site' DESTINATION"
        )
        Console.note("nothing was signed or written; cron reads the time in the zone of its machine")
    }
}
