import AssetVault
import SealedPack
import StrictJSON
import VaultErrors

/// What a downloader did: JSON only, since people see its progress.
struct DownloaderAnswer {
    let outcome: Result<DownloaderReport, VaultError>
    /// Packs that were removed for disk space.
    let removed: [PackID]

    var json: JSONObject {
        let report = try? outcome.get()
        let packs = report?.packs ?? []
        let refusals: [VaultError] =
            switch outcome {
            case .success(let report): report.refusals
            case .failure(let error): [error]
            }
        return [
            "removed": .texts(removed),
            "packs": .objects(packs) { pack in
                switch pack.result {
                case .success(let state): ["id": "\(pack.id)", "state": .string(state.name)]
                case .failure(let error): Self.json(of: error, ["id": "\(pack.id)"])
                }
            },
            "refusals": .objects(refusals) { Self.json(of: $0, ["place": .string($0.place)]) },
        ]
    }

    /// The category is for scripts, the text for people.
    private static func json(of error: VaultError, _ subject: JSONObject) -> JSONObject {
        var object = subject
        object["failure"] = .string(error.problem)
        object["category"] = .string(error.category.rawValue)
        return object
    }
}
