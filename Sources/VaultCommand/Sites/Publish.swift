import ArgumentParser
import SealedPack
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultFileSystem

struct Publish: LongCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Seal what changed and write the signed site.",
        discussion: """
            Packs are declared in vault.json; --pack declares one there:

              "packs": { "levels/one": { "source": "../assets/one" } }

            There "resources" divides a source into packs by tags, "channels" adds lists of packs for \
            testers, and "teams" names other publishers of packs.

            A source is a folder or archive, relative to the vault; that of --pack is relative to the current \
            folder. A pack may also have "policy" \
            ("essential", "prefetch", the default, or "onDemand"), "include" and "exclude" (patterns: * \
            matches anything but /, ** anything; one without / matches names at any depth), "followLinks" \
            (true packs the targets of symbolic links in a folder), "tags" (distinct words, by which clients \
            choose packs, as with --tag and 'access', and your app may, too) and "traits" (strings, \
            integers, true or false by name, for your app): both are public; and "compression", as \
            --compression, which overrides it. "expiry" is in days for each role; metadata with less than a \
            quarter of them left are signed again, so publish daily, for example from cron. A pack that is \
            removed from vault.json is no longer listed; declared again, it gets a higher version than \
            before and a new content key.

            For each changed pack the cost of the update is printed, for a client that has one of the last \
            versions, sealed, or opened with its key: bytes and requests, without metadata. Then one line \
            gives three sizes, without metadata: what a new device downloads without a request (essential \
            and prefetched packs), what a device with all earlier packs downloads, and the new files to \
            upload. The downloads are those of the device that needs most, without packs of teams. --dry-run \
            prints all this before anything is signed, names the metadata files to be written, also those \
            that are only renewed, and changes nothing. --against needs no site/, as on a CI runner: it \
            continues from the state of the host, reads index and catalog of its packs, and writes only new \
            files into site/; 'assetvault upload' these before the next publication. If the host's timestamp \
            has expired, it warns: the state may be an old one.

            Findings of 'plan' are printed as warnings: exceeded limits, native executables, files in no \
            pack. With --strict any of these refuses the publication before anything is sealed.

            Packs are sealed for exactly the keys that --keys yields, by default keys/vault.jwks, and packs \
            with "for" for those of their audiences alone; one of all these must open the previous versions. \
            Slots are rewritten in every channel that lists the pack. Files that need signatures of keys \
            kept elsewhere wait in pending/ (exit code 77); see 'assetvault trust'. Upload site/ in this \
            order: targets/, then metadata/ without roots, timestamp.json, and new N.root.json last.

            EXAMPLE
              assetvault publish my-game --pack levels/one=assets/level-one
              assetvault publish my-game --against https://cdn.example.com/game --dry-run
            """)

    @OptionGroup var vault: VaultArgument

    @Option(
        name: .customLong("pack"),
        help: ArgumentHelp(
            "Declare a pack, or give it another source: a folder or archive, relative to the current folder.",
            valueName: "id=source"))
    var declarations: [String] = []

    @OptionGroup var keys: KeyOptions
    @OptionGroup var sealing: SealingOptions

    @Option(
        name: .customLong("offline-until"),
        help: ArgumentHelp(
            "Sign all metadata to be valid until the end of this day (UTC) at least, for offline media.",
            valueName: "yyyy-mm-dd"))
    var offlineUntil: String?

    @OptionGroup var host: HostOptions

    @Flag(
        help:
            """
            Refuse what 'plan' finds: exceeded limits, native executables and \
            probable mistakes (exit code 78).
            """
    )
    var strict = false

    @Flag(help: "Seal and report, and change nothing.")
    var dryRun = false

    @OptionGroup var progress: ProgressOption

    @Flag(help: "Print a report as JSON.")
    var json = false

    private static func day(_ text: String) throws(VaultError) -> UTCTime {
        if let moment = UTCTime("\(text)T23:59:59Z"), moment > .now { return moment }
        throw VaultError(
            .usage, "'\(text)' is not a future date", at: "--offline-until",
            remedy: "give a future date as YYYY-MM-DD")
    }

    func run() async throws {
        let folder = try vault.folder(keys.passphrase)
        let declared = try declarations.map { text throws(VaultError) in
            try PackArgumentPair(text, in: folder.path)
        }
        let bar = ProgressBar()
        defer { bar.finish() }
        var request = try keys.request(at: host)
        request.compression = sealing.compression
        request.unpackingLimit = sealing.unpackingLimit
        request.offlineUntil = try offlineUntil.map { text throws(VaultError) in try Self.day(text) }
        request.isStrict = strict
        request.isDryRun = dryRun
        let report = try await Publication.run(
            of: folder, request,
            editing: declared.isEmpty
                ? nil
                : { settings throws(VaultError) in
                    for pack in declared { try settings.declare(pack.id, source: pack.source) }
                }, observe: bar.show)
        bar.finish()
        report.answerWithAdvice(asJSON: json, isDryRun: dryRun)
    }
}

/// A pack that `--pack ID=SOURCE` declares.
struct PackArgumentPair {
    let id: PackID
    /// Relative to the vault.
    let source: FilePath

    init(_ text: String, in vault: FilePath) throws(VaultError) {
        let place = "--pack \(text)"
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw VaultError(.usage, "it names no source", at: place, remedy: "write --pack ID=SOURCE")
        }
        do throws(VaultError) { id = try PackID(parts[0]) } catch {
            throw VaultError(
                .usage, "'\(parts[0])' can't be a pack's ID: \(error.problem)", at: place,
                remedy: error.remedy)
        }
        let path = FilePath(parts[1])
        guard try FileSystem.status(of: path, followingLinks: true) != nil else {
            throw VaultError(
                .missing, "there is no such file or folder: \(path)", at: place,
                remedy: "name a folder or archive, relative to the folder you are in")
        }
        source = try path.relative(to: vault)
    }
}
