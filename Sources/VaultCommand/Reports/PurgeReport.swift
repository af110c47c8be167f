import AssetVault
import StrictJSON
import VaultBytes

/// The packs that were removed to free disk space, or would be.
struct PurgeReport: Report {
    let packs: [PurgeablePack]
    let store: VaultStore
    let isDryRun: Bool
    /// Bytes that are free on the disk now.
    let freeSize: UInt64
    /// Bytes that are to be free; nil where all go.
    let wantedSize: UInt64?

    private var size: UInt64 { packs.saturatingSum(\.size) }

    /// Bytes that are free, or would be.
    var freeSizeAfter: UInt64 { isDryRun ? freeSize + min(size, .max - freeSize) : freeSize }

    var summary: String {
        if packs.isEmpty {
            let isEnough = wantedSize.map { freeSize >= $0 } ?? false
            return isEnough
                ? "enough is free: \(Bar.size(freeSize))" : "nothing may go; \(Bar.size(freeSize)) are free"
        }
        return
            "\(packs.count.counting("pack")), \(Bar.size(size)); \(Bar.size(freeSizeAfter)) \(isDryRun ? "would be free then" : "are free now")"
    }

    var lines: [String] {
        packs.map { pack in
            let use = pack.lastUse.map { "last read \($0)" } ?? "never read"
            return
                "\(isDryRun ? "would remove" : "removed")  \(pack.id)  \(Bar.size(pack.size)), \(pack.reason.words), preservation \(pack.preservation), \(use)\(pack.isOfRunningProcess ? ", a running program requested it" : "")"
        }
    }

    var json: JSONObject {
        [
            "dryRun": .bool(isDryRun), "size": .number(size), "freeSize": .number(freeSizeAfter),
            "packs": .objects(packs) { pack in
                var json: JSONObject = [
                    "id": "\(pack.id)", "size": .number(pack.size), "reason": .string(pack.reason.rawValue),
                    "preservation": "\(pack.preservation)",
                    "requestedByRunning": .bool(pack.isOfRunningProcess),
                ]
                let listedID = store.listedID(of: pack.id)
                if listedID != pack.id { json["listedID"] = "\(listedID)" }
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
