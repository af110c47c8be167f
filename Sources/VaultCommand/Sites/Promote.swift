import ArgumentParser
import SealedPack
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultHTTP
import VaultSite
import VaultTransport

struct Promote: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote",
        abstract: "List packs of one channel in another one.",
        discussion: """
            vault.json names the channels of a site, such as "channels": ["dev", "beta", "live"]. 'publish' \
            lists what it seals in the first one; 'promote' lists the same packs in another one. It signs \
            and writes metadata only: the packs are at the host already. Clients without --channel follow \
            'live'.

            An ID names a pack, or a resource tree with all its packs. With --all the second channel lists \
            exactly the packs of the first one, and no others. A lower version than the one that is listed \
            is refused, unless --allow-older puts it back; other content under the same version is always \
            refused. --dry-run prints the names that become visible. Opaque names are read with --keys, or \
            else with the vault's own key.

            EXAMPLE
              assetvault promote my-game --all --from beta --to live --dry-run
              assetvault promote my-game levels/one --from dev --to beta
            """)

    @OptionGroup var vault: VaultArgument

    @Argument(help: ArgumentHelp("The packs, or resource trees.", valueName: "id"))
    var ids: [String] = []

    @Flag(help: "All packs: the second channel lists exactly what the first one does.")
    var all = false

    @Option(name: .customLong("from"), help: ArgumentHelp("The channel that lists them.", valueName: "name"))
    var origin: String

    @Option(name: .customLong("to"), help: ArgumentHelp("The channel to list them in.", valueName: "name"))
    var destination: String

    @Flag(help: "Accept lower versions than those that are listed.")
    var allowOlder = false

    @OptionGroup var options: RelistingOptions

    func run() async throws {
        guard ids.isEmpty == all else {
            throw VaultError(
                .usage, all ? "IDs and --all are given" : "no pack is named", at: "promote",
                remedy: "name packs, or write --all")
        }
        let packs = try ids.map { id throws(VaultError) in try PackID(id) }
        let (from, to) = (try Channel(named: origin), try Channel(named: destination))
        let request = try options.request()
        var promotion = Promotion(all ? .all : .only(packs), from: from, to: to, request)
        promotion.allowsOlder = allowOlder
        let folder = try vault.folder(options.keys.passphrase)
        let names = await PackNames.known(in: folder, at: request.host, keys: request.keys)
        var report: PromotionReport
        do throws(VaultError) { report = try await promotion.run(in: folder) } catch {
            throw names.naming(error)
        }
        report.names = names
        report.answerWithAdvice(asJSON: options.json, isDryRun: options.dryRun)
    }
}

extension PackNames {
    /// The names of packs where a vault's site hides them; empty where no key opens their table.
    ///
    /// - Parameters:
    ///   - host: where the site is; nil looks into the vault.
    ///   - keys: nil uses the vault's own.
    static func known(
        in folder: VaultFolder, at host: Site?, keys: (any KeyProvider)?
    ) async -> PackNames {
        let keys = keys ?? folder.ownKeys
        let site = host ?? Site(SiteLocation(path: folder.site), transport: SchemeTransport())
        guard let root = try? TrustedRootOption.root(at: folder.trustedRoot),
            let tree = try? await TargetTree.verifying(site, pinnedRoot: root, now: .earliest)
        else { return PackNames() }
        let names = try? await PackNames.open(
            listedBy: tree, in: PublishedPacks(ofAllChannelsOf: tree), of: nil, at: site, keys: keys,
            scratch: .temporaryFolder)
        return (names ?? nil) ?? PackNames()
    }
}

extension PromotionReport: Report {
    var columns: [Column<Self>] {
        [
            .text("channel") { $0.channel.name },
            .notable("packs", packColumns, where: \.isChanged, others: "unchanged") { $0.packs },
            .number("restoredSnapshot") { $0.restored?.version }.orNull,
            .texts("written") { $0.written }, .texts("toWrite") { $0.toWrite },
            .texts("warnings") { $0.warnings.map(\.worded) },
        ]
    }

    private var packColumns: [Column<Pack>] {
        [
            .text("change", "%") { $0.change.rawValue }, .text("id", "%") { names.shownID(of: $0.id) },
            .text("listedID") { names[listed: $0.id] == nil ? nil : $0.id },
            .number("from") { $0.earlier }.orNull, .number("version") { $0.version }.orNull,
            .words { $0.versions },
        ]
    }

    /// Prints the warnings, the report, and what was written.
    func answerWithAdvice(asJSON isJSON: Bool, isDryRun: Bool) {
        for warning in warnings { Console.note("warning: \(names.naming(warning.worded))") }
        answer(asJSON: isJSON)
        if isJSON { return }
        if let restored { Console.note("the channel lists what it did under \(restored)") }
        Console.noteListing(in: channel, isDryRun: isDryRun)
        isDryRun ? Console.wroteNothing(but: toWrite) : Console.wrote(written)
    }
}

extension PromotionReport.Pack {
    fileprivate var isChanged: Bool { change != .unchanged }

    fileprivate var versions: String {
        switch change {
        case .added: "version \(version ?? 0), a new name for clients"
        case .updated, .older: "version \(earlier ?? 0) to \(version ?? 0)"
        case .relabelled: "version \(version ?? 0), for other keys or with other labels"
        case .removed: "version \(earlier ?? 0), clients no longer see it"
        case .unchanged: "version \(version ?? 0)"
        }
    }
}
