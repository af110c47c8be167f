import ArgumentParser
import SealedPack
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultSite
import VaultTransport

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the packs of a site, and which vault keys open them.",
        discussion: """
            Reads the site's metadata, and needs neither a store nor a key. It prints the ID, version, size, \
            opened size, policy, tags and traits of each pack, and the vault keys that it is sealed for. \
            Without --trust the metadata is verified from the site's own first root: that shows that the \
            site is consistent, not whose it is. If names are opaque, --keys shows them.

            EXAMPLE
              assetvault list https://cdn.example.com/game --trust trusted-root.json
              assetvault list my-game/site --json
            """)

    @Argument(
        help: ArgumentHelp("The site: a folder, or its https, http or file URL.", valueName: "site"),
        completion: .directory)
    var site: String

    @OptionGroup var trust: TrustedRootOption
    @OptionGroup var channel: ChannelOption
    @OptionGroup var keys: KeyOptions
    @OptionGroup var connection: TransportOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let location = try SiteLocation(site)
        if let folder = location.path { try folder.requireSite() }
        let root = try trust.root()
        let source = Site(location, transport: try connection.transport())
        let tree = try await TargetTree.verifying(source, pinnedRoot: root, now: .now)
        let channel = try self.channel.channel ?? .live
        let published = try PublishedPacks(of: tree, in: channel)
        var names: PackNames?
        if let keys = try keys.cachedProvider() {
            names = try await PackNames.open(
                listedBy: tree, in: published, of: channel, at: source, keys: keys, scratch: .temporaryFolder)
        }
        SiteListing(packs: published.packs, names: names ?? PackNames(), isPinned: root != nil)
            .answer(asJSON: json)
        if tree.hasOpaqueNames(channel), names == nil {
            Console.note("the names are opaque: give --keys to see them")
        }
        if root == nil { Console.note("not pinned: give --trust ROOT.json to verify whose site it is") }
        if published.packs.isEmpty { Console.note("the site lists no packs") }
        for skipped in published.skipped { Console.note("no pack: \(skipped.path): \(skipped.reason)") }
        Console.warn(of: published.withheldTags)
        for refusal in tree.refusals {
            Console.note("warning: packs listed by '\(refusal.role)' are left out: \(refusal.error.problem)")
        }
    }
}

/// The packs of a site.
struct SiteListing: Report {
    let packs: [ListedPack]
    /// Empty where the listed IDs are the names.
    let names: PackNames
    let isPinned: Bool

    private struct Row {
        let listed: ListedPack
        /// With the names that are known.
        let pack: PackManifest

        var offer: PackOffer { pack.offer }
        var keyIDs: [KeyID] { pack.slots.map(\.keyID) }
        var traitText: String? {
            offer.traits.isEmpty ? nil : JSONValue.object(offer.traits).compactText
        }
    }

    private var rows: [Row] { packs.map { Row(listed: $0, pack: names.completing($0.pack)) } }

    var columns: [Column<Self>] {
        [.flag("pinned") { $0.isPinned }, .table("packs", packColumns) { $0.rows }]
    }

    private var packColumns: [Column<Row>] {
        [
            .text("id", "%") { names.shownID(of: $0.pack.id) },
            .text("listedID") { names[listed: $0.pack.id] == nil ? nil : $0.pack.id },
            .number("version", "version %") { $0.pack.version },
            .text("policy", "%") { $0.offer.policy.rawValue },
            .number("length", "% bytes") { $0.pack.length },
            .number("openedSize", ", opened %") { $0.pack.openedSize },
            .number("order") { $0.offer.order }, .text("family") { $0.offer.family },
            .texts("tags", "tags: %") { $0.offer.tags },
            .texts("withheldTags") { $0.offer.withheldTags.unlessEmpty },
            .object("traits") { $0.offer.traits }, .words("traits: %") { $0.traitText },
            .text("team", "of the team %") { $0.listed.team },
            .text("apps", "for apps %") { $0.offer.apps == .all ? nil : $0.offer.apps },
            .flag("held", "held until its release") { $0.offer.isHeld }, .texts("keys") { $0.keyIDs },
            .words("sealed for %") { $0.keyIDs.map(\.description).joined(separator: ", ") },
            .table("others", otherColumns) { $0.listed.otherVersions.unlessEmpty },
        ]
    }

    private var otherColumns: [Column<PackManifest>] {
        [
            .number("version", "  also version %") { $0.version },
            .text("apps", ", for apps %") { $0.offer.apps },
        ]
    }
}
