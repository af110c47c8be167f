import SealedPack
import StrictJSON
import VaultKeys
import VaultSite

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
            guard !offer.traits.isEmpty else { return nil }
            return String(decoding: JSONValue.object(offer.traits).compact().dropLast(), as: UTF8.self)
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
            .texts("keys") { $0.keyIDs },
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
