import ArgumentParser
import AssetVault
import SealedPack
import UpdateFramework
import VaultAuthoring
import VaultBase

struct Usage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage",
        abstract: "Show the disk space that a store takes, by pack.",
        discussion: """
            Prints for each pack its size, sealed and opened, its tags, the processes that have it in \
            access, whether it is purgeable, its preservation priority, and when it was read last. The \
            initial install, what is prefetched and what is in access are compared with --limits; exit code \
            78 means that one is exceeded.

            EXAMPLE
              assetvault usage --store ~/.game --limits odr-2015
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var limits: SizeLimitOption

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let limits = try limits.limits()
        let vaultStore = VaultStore(try store.existingOrEmptyLayout())
        for file in try vaultStore.damagedFiles() { Console.warn(ofDamaged: file) }
        let report = UsageReport(usage: try await vaultStore.usage(), limits: limits ?? SizeLimits())
        report.answer(asJSON: json)
        if !json, report.usage.packs.isEmpty { Console.note("the store \(store.store) has no packs yet") }
        if let excess = report.excesses.first {
            throw VaultError(
                .limit, "\(excess.name): \(excess.size) bytes, more than the limit of \(excess.limit)",
                at: store.store, remedy: excess.remedy)
        }
    }
}

/// What a store takes on the disk.
struct UsageReport: Report {
    let usage: StoreUsage
    let limits: SizeLimits

    /// A size that has a limit.
    typealias Limited = (name: String, size: UInt64, limit: UInt64, remedy: String)

    /// What the limits apply to on a device; the others are for authors.
    var limited: [Limited] {
        let sizes: [(String, UInt64, UInt64?, String)] = [
            ("initial install", initialSize, limits.initial, "tag less as \"initial\""),
            (
                "initial install and prefetched", installedSize, limits.initialAndPrefetched,
                "make more packs on demand"
            ),
            ("packs that come with the app", initialSize, limits.app, "tag less as \"initial\""),
            ("in access", accessedSize, limits.inUse, "end the access to tags that are not needed"),
        ]
        return sizes.compactMap { name, size, limit, remedy in
            limit.map { (name, size, $0, remedy) }
        }
    }

    var excesses: [Limited] { limited.filter { $0.size > $0.limit } }

    /// A variant that another one replaced on this device is not part of its installation.
    private var initialSize: UInt64 { installedSize(of: [.essential]) }
    private var installedSize: UInt64 { installedSize(of: [.essential, .prefetch]) }

    private func installedSize(of policies: Set<PackPolicy>) -> UInt64 {
        openedSize { policies.contains($0.policy) && $0.purgeReason != .replacedVariant }
    }

    private var accessedSize: UInt64 { openedSize(where: \.isInAccess) }

    private func openedSize(where isCounted: (StoreUsage.Pack) -> Bool) -> UInt64 {
        usage.packs.filter(isCounted).saturatingSum(\.openedSize)
    }

    var columns: [Column<Self>] {
        [
            .lines { report in
                [
                    Bar.parts(report.parts.map { ($0.size, $0.mark) }, of: report.usage.sizeOnDisk()),
                    report.parts.map { "\($0.mark) \($0.name) \(Bar.size($0.size))" }.joined(
                        separator: "   "),
                ]
            },
            .table("packs", packColumns, isAligned: true) { $0.usage.packs },
            .lines { report in
                let total = Bar.size(report.usage.sizeOnDisk())
                return [
                    "in all \(total), free on the disk \(Bar.size(report.usage.freeSize))",
                    "initial install: \(Bar.size(report.initialSize)) opened; in access: \(Bar.size(report.accessedSize)) opened",
                ]
            },
            .table(
                "limits",
                [
                    .words { Bar.text($0.size, of: max($0.limit, 1)) }, .text("name", "%") { $0.name },
                    .words { "\(Bar.size($0.size)) of \(Bar.size($0.limit))" },
                    .number("size") { $0.size }, .number("limit") { $0.limit },
                ], isAligned: true
            ) { $0.limited },
            .table("received", dayColumns) { $0.days }.onlyJSON,
            .table(nil, dayColumns, isAligned: true) { Array($0.days.suffix(Self.shownDays)) },
            .number("size") { $0.usage.sizeOnDisk() }, .number("initialSize") { $0.initialSize },
            .number("accessedSize") { $0.accessedSize }, .number("purgeableSize") { $0.purgeableSize },
            .number("freeSize") { $0.usage.freeSize },
        ]
    }

    private var packColumns: [Column<StoreUsage.Pack>] {
        let largest = usage.packs.map(\.sizeOnDisk).max() ?? 0
        return [
            .words { Bar.text($0.sizeOnDisk, of: max(largest, 1)) }, .text("id", "%") { $0.id },
            .text("listedID") { $0.listedID == $0.id ? nil : $0.listedID },
            .size("sizeOnDisk", "% on the disk,") { $0.sizeOnDisk },
            .size("sealedSize", "% sealed,") { $0.sealedSize },
            .size("openedSize", "% opened") { $0.openedSize }, .text("policy", "%") { $0.policy.rawValue },
            .words { $0.state }, .words { $0.order },
            .texts("tags") { $0.tags }, .words("tags %") { $0.tags.unlessEmpty?.joined(separator: " ") },
            .flag("inAccess") { $0.isInAccess },
            .table(
                "processes", [.number("process") { $0.number }, .text("command") { $0.command }]
            ) { $0.processes },
            .text("preservation") { $0.preservation }, .text("lastUse") { $0.lastUse },
            .number("received") { usage.network.packs[$0.id]?.all ?? 0 },
            .text("form") { $0.form?.rawValue }, .text("purgeReason") { $0.purgeReason?.rawValue },
        ]
    }

    private var dayColumns: [Column<(key: String, value: Traffic.Bytes)>] {
        let largest = days.suffix(Self.shownDays).map(\.value.all).max() ?? 0
        return [
            .words { Bar.text($0.value.all, of: max(largest, 1)) }, .text("date", "received %") { $0.key },
            .size("bytes", "%") { $0.value.all }, .number("metered") { $0.value.metered },
            .words("% of it metered") { $0.value.metered == 0 ? nil : Bar.size($0.value.metered) },
        ]
    }

    /// On which anything was received.
    private var days: [(key: String, value: Traffic.Bytes)] {
        usage.network.days.sorted { $0.key < $1.key }
    }

    /// The last days.
    private static let shownDays = 7

    /// The parts of the store: in access, staying, purgeable.
    private var parts: [(name: String, mark: Character, size: UInt64)] {
        [
            ("in access", "█", usage.sizeOnDisk(where: \.isInAccess)),
            ("stays", "▓", usage.sizeOnDisk { !$0.isInAccess && $0.purgeReason == nil }),
            ("purgeable", "░", purgeableSize),
        ]
    }

    private var purgeableSize: UInt64 {
        usage.sizeOnDisk { $0.purgeReason != nil && !$0.isInAccess }
    }
}

extension StoreUsage.Pack {
    /// For people.
    fileprivate var state: String {
        if !processes.isEmpty {
            let names = processes.map { "\($0.command) (\($0.number))" }
            return "in access by \(names.joined(separator: ", "))"
        }
        if isInAccess { return "being read" }
        if form == nil { return "not ready for use" }
        return purgeReason.map { "purgeable: \($0.words)" } ?? "stays"
    }

    /// The values that decide the order of removal.
    fileprivate var order: String {
        purgeReason == nil ? lastUse.asLastUse : "preservation \(preservation), \(lastUse.asLastUse)"
    }
}
