import ArgumentParser
import SealedPack
import VaultAuthoring
import VaultBase
import VaultSite

struct KeysReseal: LongCommand {
    static let configuration = CommandConfiguration(
        commandName: "reseal",
        abstract: "Seal packs again under new content keys, in all channels.",
        discussion: """
            For content keys that leaked: someone who had a vault key may have kept the content keys that it \
            opened. Every listed version of the packs is opened, and sealed with the same content and ID \
            under a fresh key and the next version number; the sources are not read. Clients download these \
            packs again, and all of them are uploaded again: the command prints both sizes first. Versions \
            under the replaced keys are never listed again (exit code 64).

            Take the leaked vault key out of use before: 'keys rekey', then --finish. Afterwards the report \
            says what each retired vault key still opens, by channel, pack and version.

            EXAMPLE
              assetvault keys reseal my-game --pack film --dry-run
              assetvault keys reseal my-game --all
            """)

    @OptionGroup var vault: VaultArgument
    @OptionGroup var options: RelistingOptions

    @Option(
        name: .customLong("pack"),
        help: ArgumentHelp("A pack, or a resource tree with all its packs. May be repeated.", valueName: "id")
    )
    var packs: [String] = []

    @Flag(help: "All packs of the vault.")
    var all = false

    @OptionGroup var progress: ProgressOption

    func validate() throws {
        if all == !packs.isEmpty { throw ValidationError("give either --pack or --all") }
    }

    func run() async throws {
        let selection: Resealing.Selection =
            try all ? .all : .only(packs.map { text throws(VaultError) in try PackID(text) })
        let resealing = Resealing(selection, try options.request())
        let vault = try vault.folder(options.keys.passphrase)
        let bar = ProgressBar()
        defer { bar.finish() }
        let report = try await resealing.run(in: vault) { plan in
            Console.note(plan.cost)
        } observe: {
            bar.show($0)
        }
        bar.finish()
        report.answer(asJSON: options.json, isDryRun: options.dryRun)
    }
}

extension ResealingReport: Report {
    var columns: [Column<Self>] {
        [
            .table("packs", Pack.columns) { $0.packs },
            .number("download") { $0.download }, .number("upload") { $0.upload },
            .table("exposures", KeyExposure.columns) { $0.exposures },
            .texts("written") { $0.written }, .texts("warnings") { $0.warnings.map(\.worded) },
        ]
    }

    fileprivate var cost: String {
        "sealed again: \(packs.count.counting("version")); clients download about \(Bar.size(download)), and the next upload is about \(Bar.size(upload))"
    }

    fileprivate func answer(asJSON isJSON: Bool, isDryRun: Bool) {
        Console.warn(of: warnings)
        answer(asJSON: isJSON)
        if isJSON { return }
        if isDryRun {
            Console.note(cost)
            Console.note("nothing was sealed or written")
        } else {
            Console.wrote(written)
            Console.note(
                "the earlier versions stay at the host, open to the old keys, until 'prune' may remove them")
        }
    }
}

extension ResealingReport.Pack {
    fileprivate static var columns: [Column<Self>] {
        [
            .words("%") { "\($0.name ?? $0.id)" }, .text("id") { $0.id }, .text("name") { $0.name }.orNull,
            .number("earlier", "version %") { $0.earlier },
            .number("version", "becomes version %") { $0.version },
            .number("length", ", % bytes") { $0.length },
            .texts("channels", " in %") { $0.channels.map(\.name) },
        ]
    }
}
