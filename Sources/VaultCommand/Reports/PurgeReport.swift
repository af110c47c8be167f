import AssetVault
import StrictJSON

/// The packs that were removed to free disk space, or would be.
struct PurgeReport: Report {
    let packs: [PurgeablePack]
    let store: VaultStore
    let isDryRun: Bool

    var lines: [String] {
        packs.map { pack in
            let use = pack.lastUse.map { "last read \($0)" } ?? "never read"
            return
                "\(isDryRun ? "would remove" : "removed")  \(store.name(of: pack.id) ?? pack.id)  \(pack.size) bytes, \(pack.reason.words), preservation \(pack.preservation), \(use)"
        }
    }

    var json: JSONObject {
        [
            "dryRun": .bool(isDryRun),
            "packs": .objects(packs) { pack in
                var json: JSONObject = [
                    "id": "\(pack.id)", "size": .number(pack.size), "reason": .string(pack.reason.rawValue),
                    "preservation": "\(pack.preservation)",
                ]
                json["name"] = store.name(of: pack.id).map { .string($0.description) }
                json["lastUse"] = pack.lastUse.map { .string($0.description) }
                return json
            },
        ]
    }
}

extension PurgeablePack.Reason {
    var words: String {
        switch self {
        case .declared: "purgeable"
        case .replacedVariant: "another variant serves the device"
        case .onDemand: "on demand"
        }
    }
}
