import ArgumentParser
import AssetVault
import SealedPack
import Synchronization
import SystemPackage
import VaultBase
import VaultSite

struct Fetch: LongCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Download, verify and stage the packs of a site.",
        discussion: """
            Trust is refreshed first; the store pins the root of its first --trust. Without IDs and tags, \
            essential and prefetch packs are fetched. Without --keys packs stop in shared storage, verified \
            and sealed. A pack that none of the keys opens is not a failure: if it was named, it is \
            downloaded and waits for its key; other such packs are downloaded only with --preload. If the \
            store has a pack in part, or in an earlier version, only missing pieces are downloaded (pieces \
            of an opened version are reused with its key); --dry-run prints their size, without metadata and \
            the table of opaque names. If a tag is unknown, nothing is downloaded.

            Packs that share a tag are updated together: if one of them fails, all stay in the versions that \
            were there before, which can still be read, and the next run continues. --together does the same \
            with all packs that are fetched.

            EXAMPLE
              assetvault fetch https://cdn.example.com/game --store ~/.game \\
                --trust trusted-root.json --keys env:GAME_KEY
              assetvault fetch https://cdn.example.com/game --store ~/.game \\
                --keys env:GAME_KEY --together
            """)

    @OptionGroup var client: ClientOptions
    @OptionGroup var view: ViewOptions
    @OptionGroup var connection: TransportOptions

    @Argument(help: ArgumentHelp("The packs to fetch.", valueName: "id"), completion: .packsOfStore)
    var ids: [String] = []

    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeyOptions
    @OptionGroup var limits: ClientLimitOptions

    @Flag(help: "Fetch every pack.")
    var all = false

    @Option(
        name: .customLong("tag"),
        help: ArgumentHelp("Fetch the packs that have this tag; repeatable.", valueName: "tag"))
    var tags: [String] = []

    @Flag(
        help:
            """
            Also download packs that were not named and that none of the \
            keys opens: they wait for their key.
            """
    )
    var preload = false

    @Flag(
        help:
            """
            Make all packs that are fetched ready for use together: at once when the last one is here, or \
            none of them. The disk needs room for both versions.
            """
    )
    var together = false

    @Flag(help: "Fail with code 77 when the key of any wanted pack is missing.")
    var strict = false

    @OptionGroup var time: TimeOption
    @OptionGroup var form: FormOptions

    @OptionGroup var progress: ProgressOption

    @Flag(help: "Print what would be downloaded, and download nothing but metadata and the indexes of packs.")
    var dryRun = false

    @Flag(
        help:
            """
            Print JSON: what the store holds afterwards, as 'status' does, and which packs no key opens; \
            with --dry-run what would be downloaded.
            """
    )
    var json = false

    func validate() throws {
        if form.form == .opened, keys.specs.isEmpty {
            throw ValidationError("--opened needs --keys: without a key packs stay sealed")
        }
        if dryRun, strict { throw ValidationError("--strict and --dry-run exclude each other") }
        if [all, !ids.isEmpty, !tags.isEmpty].filter(\.self).count > 1 {
            throw ValidationError("--all, --tag and IDs exclude each other")
        }
    }

    private var selection: PackSelection {
        get throws(VaultError) {
            if all { return .all }
            if !tags.isEmpty { return .tagged(Set(tags)) }
            return try ids.isEmpty ? .automatic : .only(ids.map { id throws(VaultError) in try PackID(id) })
        }
    }

    func run() async throws {
        let selection = try selection
        var configuration = try client.configuration(of: store.layout, seeing: view, over: connection)
        limits.apply(to: &configuration)
        configuration.keys = try keys.cachedProvider()
        configuration.form = form.form
        configuration.policy.preloadsLockedPacks = preload
        configuration.policy.updatesTogether = together
        if dryRun { return try await reportCosts(of: selection, configuration) }
        let shown = FetchProgress()
        let others = Mutex<[Channel]>([])
        let result = await outcome { () throws(VaultError) in
            try await shown.whileShowing(configuration) { client throws(VaultError) in
                try await client.requireKnownTraits(within: time.duration)
                do throws(VaultError) {
                    _ = try await client.fetch(selection, priority: .urgent, within: time.duration)
                } catch {
                    throw await error.suggesting(for: ids) { () throws(VaultError) in
                        try await client.packs.map(\.id)
                    }
                }
                let channels = await client.channelsWithPacks
                others.withLock { $0 = channels }
            }
            if strict, let error = shown.locked.first?.error { throw error }
        }
        if json {
            try await StatusReport(of: store.layout, locked: shown.locked.map(\.error)).answer(asJSON: true)
        }
        try result.get()
        try keys.warnOfMissingSources()
        if shown.hasPrintedNothing, let other = others.withLock({ $0.first }) {
            let line = GivenCommand.line(adding: ["--channel", other.name])
            let names = others.withLock { $0.map(\.name) }.listed(upTo: 8)
            Console.note("nothing to fetch: the channel lists no pack; those that do: \(names): \(line)")
        } else {
            await explainLeftOut(isEmpty: shown.hasPrintedNothing)
        }
    }

    /// Which listed packs a fetch without IDs and tags leaves out.
    private func explainLeftOut(isEmpty: Bool) async {
        guard !all, ids.isEmpty, tags.isEmpty else { return }
        let everything = GivenCommand.line(adding: ["--all"])
        let packs = (try? await VaultStore(store.layout).status()) ?? []
        let removed = packs.filter { $0.isRemoved && $0.availability != nil }.map(\.id.description)
        if !removed.isEmpty {
            Console.note(
                "left out: packs that were removed from this store (\(removed.listed(upTo: 8))) come back when they are named; for all packs: \(everything)"
            )
        } else if isEmpty {
            Console.note(
                "nothing to fetch: the site lists no essential or prefetch pack; for all others: \(everything)"
            )
        }
    }

    private func reportCosts(of selection: PackSelection, _ configuration: VaultConfiguration) async throws {
        let costs = try await FetchProgress().whileShowing(configuration) { client throws(VaultError) in
            try await client.requireKnownTraits(within: time.duration)
            return try await client.costs(of: selection, within: time.duration)
        }
        DownloadReport(costs: costs, free: try VaultStore(store.layout).spareSize()).answer(asJSON: json)
        if !json { await explainLeftOut(isEmpty: false) }
    }
}

/// The cost of a fetch.
struct DownloadReport: Report {
    let costs: [DownloadCost]
    /// Bytes that may be written.
    let free: UInt64

    private var bytes: UInt64 { costs.saturatingSum(\.cost.bytes) }
    private var written: UInt64 { costs.saturatingSum(\.written) }

    var notes: [String] {
        guard !costs.isEmpty else { return ["nothing is to be downloaded"] }
        let shortage =
            written > free
            ? ["the disk has \(written - free) bytes too few for that: free some space, or remove packs"] : []
        return ["\(bytes) bytes in all are to be downloaded, and \(written) written"] + sets.map(\.words)
            + shortage
    }

    private var sets: [DownloadSet] {
        let numbers = Set(costs.compactMap(\.set)).sorted()
        return numbers.map { number in DownloadSet(number: number, costs: costs.filter { $0.set == number }) }
    }

    var columns: [Column<Self>] {
        [
            .table("packs", DownloadCost.columns) { $0.costs }, .number("bytes") { $0.bytes },
            .number("written") { $0.written }, .number("free") { $0.free },
            .table("sets", DownloadSet.columns) { $0.sets }.onlyJSON,
        ]
    }
}

/// Packs that become ready for use together.
private struct DownloadSet {
    let number: Int
    let costs: [DownloadCost]

    private var written: UInt64 { costs.saturatingSum(\.written) }

    var words: String {
        "set \(number): \(costs.count.counting("pack")) are updated together, with \(written) bytes beside the versions before"
    }

    static var columns: [Column<DownloadSet>] {
        [
            .number("set") { UInt64($0.number) }, .texts("packs") { $0.costs.map(\.id) },
            .number("written") { $0.written },
        ]
    }
}

extension DownloadCost {
    fileprivate static var columns: [Column<DownloadCost>] {
        [
            .text("id", "%") { $0.id }, .number("version", "version %") { $0.version },
            .number("bytes", "%") { $0.cost.bytes },
            .number("length", " of % bytes") { $0.cost.length },
            .count("requests", " in %", of: "request") { $0.cost.requests },
            .number("reusedPieces", ", %") { $0.cost.reusedPieces },
            .count("pieces", " of % are here already", of: "piece") { $0.cost.pieces },
            .number("written", "; % bytes are written") { $0.written },
            .number("set", ", in set %") { $0.set.map { UInt64($0) } },
        ]
    }
}
