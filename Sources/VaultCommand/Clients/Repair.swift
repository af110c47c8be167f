import ArgumentParser
import AssetVault
import SealedPack
import SystemPackage
import VaultAuthoring
import VaultBase
import VaultFileSystem
import VaultSite
import VaultTransport

struct Repair: LongCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Read every byte of a store, a site or a pack, and fetch damaged pieces again.",
        usage: """
            assetvault repair <url> --store <dir> [<id> ...] [--keys <spec> ...] [--mirror <url> ...]
            assetvault repair <folder> --from <url-or-dir> [--trust <root.json>]
            assetvault repair <pack> --from <url-or-dir> [--manifest <file>]
            """,
        discussion: """
            With --store: the packs in a store, from the site and its mirrors. Packs kept sealed are \
            verified without a key, opened ones with their key. Only damaged pieces are fetched again, from \
            any mirror, even if the site's metadata has expired. 'fetch' verifies packs that wait for their \
            key.

            With --from: a site's folder, or a pack with its manifest, from another host of the site, \
            without keys. Only what is missing or damaged is written, after it was verified; sound pieces of \
            a damaged pack stay. Damaged metadata are fetched again, if keys of the site have signed them: \
            --trust names the root that it is verified from, else its own first root counts. Of earlier \
            versions those that are there are repaired.

            EXAMPLE
              assetvault repair https://cdn.example.com/game --store ~/.game \\
                --keys env:GAME_KEY
              assetvault repair /srv/game --from https://cdn.example.com/game
              assetvault repair level.avpack --from https://cdn.example.com/game
            """)

    @OptionGroup var client: ClientOptions
    @OptionGroup var view: ViewOptions
    @OptionGroup var connection: TransportOptions

    @Argument(help: ArgumentHelp("The packs to check.", valueName: "id"), completion: .packsOfStore)
    var ids: [String] = []

    @Option(
        help: ArgumentHelp("Holds ephemeral/, shared/ and permanent/.", valueName: "dir"),
        completion: .directory)
    private var store: String?

    @OptionGroup var areas: AreaOptions

    @Option(
        name: .customLong("from"),
        help: ArgumentHelp(
            "Another host of the site, or a folder with a copy of it, to repair a site or a pack.",
            valueName: "url-or-dir"))
    var source: String?

    @Option(
        help: ArgumentHelp("The manifest of the pack, if it is not PACK.json.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var manifest: String?

    @OptionGroup var keys: KeyOptions

    @OptionGroup var progress: ProgressOption

    @Flag(help: "Print JSON: what was repaired, and what the store holds afterwards, as 'status' does.")
    var json = false

    func run() async throws {
        switch (store, source) {
        case (let store?, nil): try await repair(storeAt: store)
        case (nil, let source?): try await repairSite(from: source)
        default:
            throw VaultError(
                .usage, "what is to be repaired is a store, or a site or a pack", at: "repair",
                remedy: "give --store for a store, or --from for a site or a pack")
        }
    }

    private func repair(storeAt path: String) async throws {
        var store = StoreOptions()
        store.store = path
        store.areas = areas
        let named = try ids.isEmpty ? nil : store.packs(ids)
        var configuration = try client.configuration(
            of: store.existingLayout(), seeing: view, over: connection)
        configuration.keys = try keys.cachedProvider()
        let shown = FetchProgress()
        let result = await outcome { () throws(VaultError) in
            try await store.suggestingNames(for: ids) { [configuration] () throws(VaultError) in
                try await shown.whileShowing(configuration) { client throws(VaultError) in
                    try await client.requireKnownTraits()
                    return try await client.repair(named)
                }
            }
        }
        if json {
            let repaired = (try? result.get()) ?? shown.loaded
            let locked = shown.locked.map(\.error)
            try await StatusReport(of: store.layout, changed: ("repaired", repaired), locked: locked)
                .answer(asJSON: true)
        }
        let repaired = try result.get()
        for id in repaired { Console.note("repaired  \(id)") }
        if let unverified = shown.locked.last?.error {
            for (_, error) in shown.locked.dropLast() { Console.error(error) }
            throw unverified
        }
        if repaired.isEmpty { Console.note("no damage was found") }
    }

    private func repairSite(from source: String) async throws {
        guard ids.isEmpty, client.mirror.isEmpty else {
            throw VaultError(
                .usage, "a site or a pack is repaired as a whole, from one host", at: source,
                remedy: "omit IDs and --mirror")
        }
        let bar = ProgressBar()
        defer { bar.finish() }
        let report = try await repairedSite(
            Site(try SiteLocation(source), transport: try connection.transport()), showing: bar)
        bar.finish()
        report.answer(asJSON: json)
        Console.warn(of: report.warnings)
        guard let last = report.failures.last else { return }
        for error in report.failures.dropLast() { Console.error(error) }
        throw last
    }

    private func repairedSite(_ mirror: Site, showing bar: ProgressBar) async throws(VaultError)
        -> RepairReport
    {
        let location = try SiteLocation(client.url)
        guard let path = location.path else {
            throw VaultError(
                .usage, "a host can't be written to", at: client.url,
                remedy:
                    "repair the site's folder there, or remove the damaged files there and upload the site again"
            )
        }
        if let folder = mirror.location.path { try folder.requireSite() }
        guard try FileSystem.status(of: path, followingLinks: true)?.kind == .folder else {
            var named = manifest.map { FilePath($0) }
            if named == nil { named = try LocalPack(path: path).manifestBeside }
            guard let beside = named else {
                guard try FileSystem.exists(path) else { throw path.noSuch("file or folder") }
                throw VaultError(
                    .missing, "there is no manifest, which says what the pack was", at: client.url,
                    remedy: "give --manifest FILE")
            }
            return try await SiteRepair.run(
                ofPack: path, PackManifestFile.read(beside), from: mirror, bar.show)
        }
        try path.requireSite()
        return try await SiteRepair(
            of: path, from: mirror, pinnedRoot: try TrustedRootOption.root(named: client.trust), now: .now
        ).run(bar.show)
    }
}

extension RepairReport: Report {
    var columns: [Column<Self>] {
        [
            .text("subject") { $0.subject }, .flag("ok") { $0.failures.isEmpty },
            .number("sound") { $0.soundCount }, .number("bytes") { $0.fetchedBytes },
            .texts("repaired") { $0.repaired },
            .lines { $0.repaired.map { "repaired  \($0)" } },
            .lines { [$0.verdict] },
            .texts("warnings") { $0.warnings.map(\.worded) },
            .table("failures", Finding.columns) { $0.failures.map { Finding($0) } }.onlyJSON,
        ]
    }

    private var verdict: String {
        let sound = soundCount.counting("file")
        let fetched = fetchedBytes > 0 ? ", \(fetchedBytes.counting("byte")) fetched" : ""
        if !failures.isEmpty { return "\(sound) sound, \(failures.count) still damaged or missing" }
        return repaired.isEmpty
            ? "\(sound) sound, no damage was found"
            : "\(repaired.count) repaired\(fetched); \(sound) needed no repair"
    }
}
