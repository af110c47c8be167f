import ArgumentParser
import AssetVault
import SealedPack
import UpdateFramework
import VaultBase

struct Purge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Remove purgeable packs, to free disk space.",
        discussion: """
            Purgeable packs are those declared so, variants that another one replaced on this device, and \
            on-demand packs of resource trees. A pack that any process has in access is never removed. Packs \
            with the lowest preservation priority are removed first; of equal priority, the least recently \
            used. They are downloaded again when an app requests them, or 'fetch' names them or has --all. A \
            fetch or a request that needs disk space purges in the same way. --withdrawn removes exactly the \
            packs that the site no longer lists, as 'status' shows them, whether purgeable or not; a fetch \
            downloads them again once the site lists them again.

            EXAMPLE
              assetvault purge --store ~/.game --until-free 2GB --dry-run
            """)

    @OptionGroup var store: StoreOptions

    @Option(
        name: .customLong("until-free"),
        help: ArgumentHelp(
            "Stop when so many bytes are free; without it all purgeable packs are removed.", valueName: "size"
        ))
    var free: ByteCount?

    @Flag(help: "Remove the packs that the site no longer lists, and no others.")
    var withdrawn = false

    @Flag(help: "Print what would be removed, in order, and remove nothing.")
    var dryRun = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if withdrawn, free != nil { throw ValidationError("--withdrawn and --until-free exclude each other") }
    }

    func run() async throws {
        let store = VaultStore(try store.existingOrEmptyLayout())
        let packs =
            switch (withdrawn, dryRun) {
            case (false, true): try await store.purgeablePacks(untilFree: free?.bytes)
            case (false, false): try await store.purge(until: free?.bytes)
            case (true, true): try await store.withdrawnPacks()
            case (true, false): try await store.purgeWithdrawn()
            }
        for file in try store.damagedFiles() { Console.warn(ofDamaged: file) }
        let report = PurgeReport(
            packs: packs, store: store, onlyWithdrawn: withdrawn, isDryRun: dryRun,
            freeSize: try store.freeSize(),
            wantedSize: free?.bytes)
        report.answer(asJSON: json)
        guard let wanted = free?.bytes, report.freeSizeAfter < wanted else { return }
        let missing = wanted - report.freeSizeAfter
        throw VaultError(
            .diskFull,
            "\(Bar.size(report.freeSizeAfter)) \(dryRun ? "would be" : "are") free, \(Bar.size(missing)) less than wanted: no other pack is purgeable",
            at: self.store.store, remedy: "remove packs, declare some purgeable, or free space elsewhere",
            missingBytes: missing)
    }
}

/// The packs that were removed to free disk space, or would be.
struct PurgeReport: Report {
    let packs: [PurgeablePack]
    let store: VaultStore
    let onlyWithdrawn: Bool
    let isDryRun: Bool
    /// Bytes that are free on the disk now.
    let freeSize: UInt64
    /// Bytes that are to be free; nil where all go.
    let wantedSize: UInt64?

    private var size: UInt64 { packs.saturatingSum(\.size) }

    /// Bytes that are free, or would be.
    var freeSizeAfter: UInt64 { isDryRun ? freeSize.saturatingAdding(size) : freeSize }

    var notes: [String] {
        if packs.isEmpty {
            let free = Bar.size(freeSize)
            if freeSize >= wantedSize ?? .max { return ["enough is free: \(free)"] }
            let reason = onlyWithdrawn ? "no withdrawn pack can be removed" : "no pack is purgeable"
            return ["\(reason); \(free) are free"]
        }
        let time = isDryRun ? "would be free then" : "are free now"
        return ["\(packs.count.counting("pack")), \(Bar.size(size)); \(Bar.size(freeSizeAfter)) \(time)"]
    }

    var columns: [Column<Self>] {
        [
            .table("packs", packColumns) { $0.packs },
            .flag("dryRun") { $0.isDryRun }, .number("size") { $0.size },
            .number("freeSize") { $0.freeSizeAfter },
        ]
    }

    private var packColumns: [Column<PurgeablePack>] {
        [
            .words { _ in isDryRun ? "would remove" : "removed" }, .text("id", "%") { $0.id },
            .text("listedID") { pack -> PackID? in
                let listedID = store.listedID(of: pack.id)
                return listedID == pack.id ? nil : listedID
            },
            .size("size", "%") { $0.size },
            .text("reason") { $0.reason.rawValue }, .words(", %") { $0.reason.words },
            .text("preservation", ", preservation %") { $0.preservation },
            .text("lastUse") { $0.lastUse }, .words(", %") { $0.lastUse.asLastUse },
            .flag("requestedByRunning", ", a running program requested it") {
                $0.isOfRunningProcess
            },
        ]
    }
}

extension UTCTime? {
    /// The last use of a pack, for people.
    var asLastUse: String { map { "last read \($0)" } ?? "never read" }
}

extension PurgeablePack.Reason {
    var words: String {
        switch self {
        case .declared: "purgeable"
        case .replacedVariant: "another variant serves the device"
        case .onDemand: "on demand"
        case .withdrawn: "no longer listed"
        }
    }
}
