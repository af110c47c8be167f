import SealedPack
import StrictJSON
import VaultAuthoring
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

    var lines: [String] {
        let largest = packs.map(\.openedSize).max() ?? 0
        return packs.map { pack in
            var line = "\(Bar.text(pack.openedSize, of: largest)) \(pack.id)  \(pack.offer.policy.rawValue)"
            line += "  \(pack.entryCount.counting("file")), opened \(pack.openedSize) bytes"
            line +=
                pack.published.map { ", sealed \($0.length) as version \($0.version)" } ?? ", not published"
            if let pin = pack.pin { line += ", restored to \(pin.text)" }
            if let size = updates?[pack.id] { line += ", an update of \(size) bytes" }
            if !pack.offer.tags.isEmpty { line += "  tags: \(pack.offer.tags.joined(separator: ", "))" }
            if !pack.offer.traits.isEmpty { line += "  traits: \(pack.traitText)" }
            if !pack.audiences.isEmpty { line += ", for \(pack.audiences.joined(separator: ", "))" }
            return line
        } + tagLines
            + contents.map { content in
                let name = content.device.description
                let sizes = Self.shares.map { "\($0.name) \(content.openedSize(of: [$0.policy]))" }
                let sealed = content.sealedSize.map { "; all sealed \($0) bytes" } ?? ""
                let update = updateSize(of: content).map { "; an update of \($0) bytes" } ?? ""
                return
                    "device \(name.isEmpty ? "of any kind" : name): \(sizes.joined(separator: ", ")) bytes\(sealed)\(update)"
            } + (plan.hasTeams ? ["tags and devices are counted without the packs of teams"] : [])
    }

    private static let shares: [(name: String, policy: PackPolicy)] = [
        ("essential", .essential), ("prefetched", .prefetch), ("on demand", .onDemand),
    ]

    private func updateSize(of content: DeviceContent) -> UInt64? {
        updates.map { updates in
            content.packs.reduce(UInt64(0)) { sum, pack in
                let (sum, overflow) = sum.addingReportingOverflow(updates[pack.id] ?? 0)
                return overflow ? .max : sum
            }
        }
    }

    /// Of all devices the largest size of each tag.
    private var tagSizes: [(tag: String, size: UInt64)] {
        var sizes: [String: UInt64] = [:]
        for content in contents { sizes.merge(content.tagSizes, uniquingKeysWith: max) }
        return sizes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Of the devices that get all packs of a tag as they are published the largest sealed size.
    private var sealedTagSizes: [String: UInt64] {
        var sizes: [String: UInt64] = [:]
        for content in contents { sizes.merge(content.sealedTagSizes, uniquingKeysWith: max) }
        return sizes
    }

    private var tagLines: [String] {
        let largest = tagSizes.map(\.size).max() ?? 0
        let sealed = sealedTagSizes
        return tagSizes.map {
            let line = "\(Bar.text($0.size, of: largest)) tag \($0.tag): at most \($0.size) bytes on a device"
            return sealed[$0.tag].map { "\(line), sealed \($0)" } ?? line
        }
    }

    func explain() {
        for finding in findings { Console.note("\(finding.severity.name): \(finding.text)") }
        let pinned = packs.filter { $0.pin != nil }.count
        guard pinned > 0 else { return }
        Console.note(
            "\(pinned.counting("pack")) \(pinned == 1 ? "is" : "are") held at what was restored, whatever the sources are; 'assetvault restore' with --latest lists the sources again"
        )
    }

    var json: JSONObject {
        let sealed = sealedTagSizes
        return [
            "packs": .objects(packs) { pack in
                var json = pack.json
                if let size = updates?[pack.id] { json["updateLength"] = .number(size) }
                return json
            },
            "tags": .objects(tagSizes) {
                var tag: JSONObject = ["tag": .string($0.tag), "openedSize": .number($0.size)]
                tag["sealedLength"] = sealed[$0.tag].map { .number($0) }
                return tag
            },
            "devices": .objects(contents) { content in
                var device: JSONObject = [
                    "device": .string(content.device.description), "packs": .texts(content.packs.map(\.id)),
                ]
                for share in Self.shares {
                    device[share.policy.rawValue] = .number(content.openedSize(of: [share.policy]))
                }
                device["sealedLength"] = content.sealedSize.map { .number($0) }
                device["updateLength"] = updateSize(of: content).map { .number($0) }
                return device
            },
            "untagged": .object(
                JSONObject(lastWins: plan.untagged.map { ($0.key.description, .texts($0.value)) })),
            "conflicts": .objects(plan.conflicts) {
                ["path": .string($0.path.string), "packs": .texts([$0.first, $0.other])]
            },
            "findings": .objects(findings, \.json),
        ]
    }
}

extension ContentPlan.Pack {
    /// As devices state traits.
    fileprivate var traitText: String {
        let texts = offer.traits.map { name, value in
            if case .string(let text) = value { return "\(name)=\(text)" }
            return "\(name)=\(String(decoding: value.compact().dropLast(), as: UTF8.self))"
        }
        return texts.joined(separator: " ")
    }

    fileprivate var json: JSONObject {
        var json: JSONObject = [
            "id": "\(id)", "policy": .string(offer.policy.rawValue), "order": .integer(offer.order),
            "tags": .texts(offer.tags), "traits": .object(offer.traits), "entries": .number(entryCount),
            "openedSize": .number(openedSize), "for": .texts(audiences),
        ]
        json["family"] = offer.family.map { .string($0.description) }
        json["sealedLength"] = published.map { .number($0.length) }
        json["publishedVersion"] = published.map { .number($0.version) }
        switch pin {
        case .version(let version): json["pinnedVersion"] = .number(version)
        case .listing(let snapshot): json["pinnedSnapshot"] = .number(snapshot.version)
        case nil: break
        }
        return json
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
