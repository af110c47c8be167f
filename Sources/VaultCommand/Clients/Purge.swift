import ArgumentParser
import AssetVault
import SealedPack
import VaultErrors

struct Purge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Remove packs that may go, to free disk space.",
        discussion: """
            What may go are packs that are purgeable, variants that another one replaced on this device, and on-demand packs of \
            resource trees; nothing that any process has in access. Those with the lowest preservation priority go first, of these \
            the least recently used. They come back when they are requested. A fetch or a request that needs disk space does the \
            same by itself.

            EXAMPLE
              assetvault purge --store ~/.game --until-free 2GB --dry-run
            """)

    @OptionGroup var store: StoreOptions

    @Option(
        name: .customLong("until-free"),
        help: ArgumentHelp("Stop when so many bytes are free; without it all go.", valueName: "size"))
    var free: ByteCount?

    @Flag(help: "Say what would go, in order, and remove nothing.")
    var dryRun = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let store = VaultStore(try store.existingOrEmptyLayout())
        let packs =
            dryRun
            ? try await store.purgeablePacks(untilFree: free?.bytes)
            : try await store.purge(until: free?.bytes)
        for file in try store.damagedFiles() { Console.warn(ofDamaged: file) }
        let report = PurgeReport(
            packs: packs, store: store, isDryRun: dryRun, freeSize: try store.freeSize(),
            wantedSize: free?.bytes)
        report.answer(asJSON: json)
        if !json { Console.note(report.summary) }
        guard let wanted = free?.bytes, report.freeSizeAfter < wanted else { return }
        let missing = wanted - report.freeSizeAfter
        throw VaultError(
            .diskFull,
            "\(Bar.size(report.freeSizeAfter)) \(dryRun ? "would be" : "are") free, \(Bar.size(missing)) less than wanted: no other pack may go",
            at: self.store.store, remedy: "remove packs, declare some purgeable, or free space elsewhere",
            missingBytes: missing)
    }
}
