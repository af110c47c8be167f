import ArgumentParser
import SealedPack
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem

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

    @OptionGroup var options: VaultKeyOptions
    @OptionGroup var keys: KeyOptions

    @Argument(help: ArgumentHelp("Held packs and resource trees.", valueName: "id"))
    var ids: [String]

    @Option(
        name: .customLong("at"),
        help: ArgumentHelp(
            "Print a line for cron that releases at this time (UTC), and change nothing: such as 2027-03-01T18:00:00Z.",
            valueName: "time"))
    var time: String?

    @Flag(help: "Report, and change nothing.")
    var dryRun = false

    @Flag(help: "Print a report as JSON.")
    var json = false

    func run() async throws {
        let release = Release(
            of: try ids.map { text throws(VaultError) in try PackID(text) },
            try options.request(keys: keys))
        let vault = try options.vault.folder(keys.passphrase)
        let report = try await dryRun || time != nil ? release.preview(in: vault) : release.run(in: vault)
        if let time { return try printCronLine(at: time) }
        report.answerWithAdvice(asJSON: json, isDryRun: dryRun)
    }

    private func printCronLine(at text: String) throws(VaultError) {
        guard let time = UTCTime(text), time > .now else {
            throw VaultError(
                .usage, "'\(text.excerpt)' is not a future time", at: "--at",
                remedy: "write it as 2027-03-01T18:00:00Z")
        }
        let digits = time.description.split { !$0.isNumber }.map { Int($0) ?? 0 }
        guard digits.count >= 5 else { return }
        let here = try Folder(opening: "/proc/self").readLink("cwd") ?? "/"
        let path = here.pushing(FilePath(options.vault.path)).lexicallyNormalized()
        // Cron knows no years; a later run ends with an error, since nothing is held.
        Console.answer(
            "\(digits[4]) \(digits[3]) \(digits[2]) \(digits[1]) * assetvault release '\(path)' \(ids.joined(separator: " ")) && assetvault upload '\(path)/site' DESTINATION"
        )
        Console.note("nothing was signed or written; cron reads the time in the zone of its machine")
    }
}
