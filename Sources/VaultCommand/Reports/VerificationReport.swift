import AssetVault
import SealedPack
import StrictJSON
import VaultErrors

/// The condition of the packs of a store.
struct VerificationReport: Report {
    let packs: [PackCondition]

    var lines: [String] {
        packs.map {
            let reason = $0.reason.map { ": \($0)" } ?? ""
            return "\($0.word)  \($0.id)  version \($0.version) \($0.form.rawValue)\(reason)"
        }
    }

    var json: JSONObject {
        [
            "packs": .objects(packs) { pack in
                var object: JSONObject = [
                    "id": "\(pack.id)", "version": .number(pack.version), "form": .string(pack.form.rawValue),
                    "finding": .string(pack.word),
                ]
                object["reason"] = pack.reason.map { .string($0) }
                return object
            }
        ]
    }

    /// The first damage, else the first missing key.
    var error: VaultError? {
        packs.lazy.compactMap(\.damage).first ?? packs.lazy.compactMap(\.missingKey).first
    }
}

extension PackCondition {
    fileprivate var word: String {
        switch finding {
        case .sound: "sound"
        case .damaged: "damaged"
        case .unverified: "unverified"
        }
    }

    fileprivate var reason: String? {
        switch finding {
        case .sound: nil
        case .damaged(let reason), .unverified(let reason): reason
        }
    }

    fileprivate var damage: VaultError? {
        guard case .damaged(let reason) = finding else { return nil }
        return VaultError(
            .corrupt, reason, at: id.description,
            remedy: "fetch what is damaged: assetvault repair URL \(id) --store DIR")
    }

    fileprivate var missingKey: VaultError? {
        guard case .unverified(let reason) = finding else { return nil }
        return VaultError(.key, reason, at: id.description, remedy: "give its key with --keys")
    }
}
