import SealedPack
import StrictJSON
import VaultAuthoring
import VaultBytes
import VaultContent
import VaultErrors
import VaultSite

/// The packs that a vault's sources make, and what devices get.
struct ContentPlanReport: Report {
    let plan: ContentPlan
    /// Of the plan those that are asked for.
    let packs: [ContentPlan.Pack]
    let contents: [DeviceContent]
    var findings: [Finding]
    /// Bytes that a client of the published version would download of each pack; nil where that was not asked.
    var updates: [PackID: UInt64]?

    var columns: [Column<Self>] {
        [
            .table("packs", packColumns) { $0.packs },
            .table("tags", tagColumns) { $0.largest(\.tagSizes).sorted { $0.key < $1.key } },
            .table("devices", deviceColumns) { $0.contents },
            .lines { $0.plan.hasTeams ? ["tags and devices are counted without the packs of teams"] : [] },
            .object("untagged") {
                JSONObject(lastWins: $0.plan.untagged.map { ($0.key.description, .texts($0.value)) })
            },
            .table(
                "conflicts", [.text("path") { $0.path.string }, .texts("packs") { [$0.first, $0.other] }]
            ) { $0.plan.conflicts },
            .table("findings", Finding.columns) { $0.findings },
        ]
    }

    private var packColumns: [Column<ContentPlan.Pack>] {
        let largest = packs.map(\.openedSize).max() ?? 0
        return [
            .words { Bar.text($0.openedSize, of: largest) }, .text("id", " %") { $0.id },
            .text("policy", "%") { $0.offer.policy.rawValue }, .number("order") { $0.offer.order },
            .text("family") { $0.offer.family },
            .count("entries", "%", of: "file") { $0.entryCount },
            .number("openedSize", ", opened % bytes") { $0.openedSize },
            .number("sealedLength", ", sealed %") { $0.published?.length },
            .number("publishedVersion", " as version %") { $0.published?.version },
            .words(", %") { $0.published == nil ? "not published" : nil },
            .words(", restored to %") { $0.pin?.text },
            .number("pinnedVersion") { pack -> UInt64? in
                guard case .version(let version) = pack.pin else { return nil }
                return version
            },
            .number("pinnedSnapshot") { pack -> Int64? in
                guard case .listing(let snapshot) = pack.pin else { return nil }
                return snapshot.version
            },
            .number("updateLength", ", an update of % bytes") { updates?[$0.id] },
            .texts("tags", "tags: %") { $0.offer.tags }, .object("traits") { $0.offer.traits },
            .words("traits: %") { $0.traitText }, .texts("for", ", for %") { $0.audiences },
        ]
    }

    private var tagColumns: [Column<(key: String, value: UInt64)>] {
        let sizes = largest(\.tagSizes)
        // Of devices that get all packs of a tag as they are published.
        let sealed = largest(\.sealedTagSizes)
        return [
            .words { Bar.text($0.value, of: sizes.values.max() ?? 0) }, .text("tag", " tag %") { $0.key },
            .number("openedSize", ": at most % bytes on a device") { $0.value },
            .number("sealedLength", ", sealed %") { sealed[$0.key] },
        ]
    }

    private var deviceColumns: [Column<DeviceContent>] {
        [
            .text("device") { "\($0.device)" }, .words("device %:") { $0.name },
            .number("essential", " essential %") { $0.openedSize(of: [.essential]) },
            .number("prefetch", ", prefetched %") { $0.openedSize(of: [.prefetch]) },
            .number("onDemand", ", on demand % bytes") { $0.openedSize(of: [.onDemand]) },
            .number("sealedLength", "; all sealed % bytes") { $0.sealedSize },
            .number("updateLength", "; an update of % bytes") { updateSize(of: $0) },
            .texts("packs") { $0.packs.map(\.id) },
        ]
    }

    private func updateSize(of content: DeviceContent) -> UInt64? {
        updates.map { updates in content.packs.saturatingSum { updates[$0.id] ?? 0 } }
    }

    /// Of all devices the largest size of each tag.
    private func largest(_ sizes: (DeviceContent) -> [String: UInt64]) -> [String: UInt64] {
        contents.reduce(into: [:]) { $0.merge(sizes($1), uniquingKeysWith: max) }
    }

    var notes: [String] {
        let pinned = packs.count { $0.pin != nil }
        let held =
            "\(pinned.counting("pack")) \(pinned == 1 ? "is" : "are") held at what was restored, whatever the sources are; 'assetvault restore' with --latest lists the sources again"
        return findings.map { "\($0.severity.name): \($0.text)" } + (pinned > 0 ? [held] : [])
    }
}

extension ContentPlan.Pack {
    /// As devices state traits.
    fileprivate var traitText: String? {
        let texts = offer.traits.map { name, value in
            if case .string(let text) = value { return "\(name)=\(text)" }
            return "\(name)=\(value.compactText)"
        }
        return texts.unlessEmpty?.joined(separator: " ")
    }
}

extension ContentPlan.Pin {
    fileprivate var text: String {
        switch self {
        case .version(let version): "version \(version)"
        case .listing(let snapshot): "what \(snapshot) lists"
        }
    }
}

extension DeviceContent {
    fileprivate var name: String { device.description.isEmpty ? "of any kind" : device.description }
}
