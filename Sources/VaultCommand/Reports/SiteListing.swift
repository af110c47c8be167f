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

    var lines: [String] {
        packs.flatMap { listed in
            let pack = names.completing(listed.pack)
            var line =
                "\(names.shownID(of: pack.id))  version \(pack.version)  \(pack.offer.policy.rawValue)  \(pack.length) bytes, opened \(pack.openedSize)"
            if !pack.offer.tags.isEmpty { line += "  tags: \(pack.offer.tags.joined(separator: ", "))" }
            if !pack.offer.traits.isEmpty {
                let traits = JSONValue.object(pack.offer.traits).compact().dropLast()
                line += "  traits: \(String(decoding: traits, as: UTF8.self))"
            }
            if let team = listed.team { line += "  of the team \(team)" }
            if pack.offer.apps != .all { line += "  for apps \(pack.offer.apps)" }
            line += "  sealed for \(pack.slots.map(\.keyID.description).joined(separator: ", "))"
            return [line]
                + listed.otherVersions.map { "  also version \($0.version), for apps \($0.offer.apps)" }
        }
    }

    var json: JSONObject {
        ["pinned": .bool(isPinned), "packs": .objects(packs, json)]
    }

    private func json(of listed: ListedPack) -> JSONObject {
        let pack = names.completing(listed.pack)
        var json: JSONObject = [
            "id": "\(names.shownID(of: pack.id))", "version": .number(pack.version),
            "length": .number(pack.length),
            "openedSize": .number(pack.openedSize), "policy": .string(pack.offer.policy.rawValue),
            "tags": .texts(pack.offer.tags), "traits": .object(pack.offer.traits),
            "order": .integer(pack.offer.order), "keys": .texts(pack.slots.map(\.keyID)),
        ]
        if names[listed: pack.id] != nil { json["listedID"] = "\(pack.id)" }
        json["family"] = pack.offer.family.map { .string($0.description) }
        json["team"] = listed.team.map { "\($0)" }
        if !pack.offer.withheldTags.isEmpty { json["withheldTags"] = .texts(pack.offer.withheldTags) }
        if pack.offer.apps != .all { json["apps"] = "\(pack.offer.apps)" }
        if !listed.otherVersions.isEmpty {
            json["others"] = .objects(listed.otherVersions) {
                ["version": .number($0.version), "apps": "\($0.offer.apps)"]
            }
        }
        return json
    }
}
