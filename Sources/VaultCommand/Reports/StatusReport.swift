import AssetVault
import SealedPack
import StrictJSON
import VaultErrors

/// The packs of a store, and with some commands what they changed.
struct StatusReport: Report {
    let packs: [PackStatus]
    /// The member of the JSON object with the packs that the command changed, and these.
    private let changed: (name: String, ids: [PackID])?

    init(of layout: StoreLayout, changed: (name: String, ids: [PackID])? = nil) async throws(VaultError) {
        packs = try await VaultStore(layout).status()
        self.changed = changed
    }

    var lines: [String] {
        packs.map { pack in
            let version =
                pack.loadedVersion.map { "version \($0) \(pack.form?.rawValue ?? "")" } ?? "no version loaded"
            let waiting = pack.waitingVersion.map { ", version \($0) waits for its key" } ?? ""
            let purgeable = pack.isPurgeable ? ", purgeable" : ""
            return
                "\(pack.state.words)  \(pack.id)  \(version)\(purgeable)\(waiting)\(pack.state.details)"
        }
    }

    var json: JSONObject {
        var json: JSONObject = [
            "packs": .objects(packs) { pack in
                var json = pack.json
                if pack.listedID != pack.id { json["listedID"] = "\(pack.listedID)" }
                return json
            }
        ]
        if let changed { json[changed.name] = .texts(changed.ids) }
        return json
    }
}

extension PackStatus {
    fileprivate var json: JSONObject {
        var object: JSONObject = ["id": "\(id)", "state": .string(state.name)]
        object["version"] = loadedVersion.map { .number($0) }
        object["form"] = form.map { .string($0.rawValue) }
        object["waitingVersion"] = waitingVersion.map { .number($0) }
        if isPurgeable { object["purgeable"] = true }
        if isRemoved { object["removed"] = true }
        switch state {
        case .failed(let category, let reason):
            object["failure"] = .string(reason)
            object["category"] = category.map { .string($0.rawValue) }
        case .downloading(let bytes, let total):
            object["bytes"] = .number(bytes)
            object["total"] = .number(total)
        default: break
        }
        return object
    }
}

extension PackState {
    /// For people.
    fileprivate var words: String {
        switch self {
        case .toBeTransferred: "waiting"
        default: name
        }
    }

    /// Details beside the name of the state.
    fileprivate var details: String {
        switch self {
        case .failed(_, let reason): ", last attempt failed: \(reason)"
        case .downloading(let bytes, let total): ", \(bytes) of \(total) bytes are there"
        default: ""
        }
    }
}
