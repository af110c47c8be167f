import SealedPack
import StrictJSON
import VaultKeys

/// The packs of a site.
struct SiteListing: Report {
    let packs: [PackManifest]
    let isPinned: Bool

    var lines: [String] {
        packs.map { pack in
            var line =
                "\(pack.id)  version \(pack.version)  \(pack.offer.policy.rawValue)  \(pack.length) bytes, opened \(pack.openedSize)"
            if !pack.offer.tags.isEmpty { line += "  tags: \(pack.offer.tags.joined(separator: ", "))" }
            if !pack.offer.traits.isEmpty {
                let traits = JSONValue.object(pack.offer.traits).compact().dropLast()
                line += "  traits: \(String(decoding: traits, as: UTF8.self))"
            }
            return line + "  sealed for \(pack.slots.map(\.keyID.description).joined(separator: ", "))"
        }
    }

    var json: JSONObject {
        [
            "pinned": .bool(isPinned),
            "packs": .objects(packs) {
                var pack: JSONObject = [
                    "id": "\($0.id)", "version": .number($0.version), "length": .number($0.length),
                    "openedSize": .number($0.openedSize), "policy": .string($0.offer.policy.rawValue),
                    "tags": .texts($0.offer.tags), "traits": .object($0.offer.traits),
                    "order": .integer($0.offer.order), "keys": .texts($0.slots.map(\.keyID)),
                ]
                pack["family"] = $0.offer.family.map { .string($0.description) }
                return pack
            },
        ]
    }
}
