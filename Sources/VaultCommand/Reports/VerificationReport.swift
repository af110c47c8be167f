import AssetVault
import SealedPack
import VaultErrors

/// The condition of the packs of a store.
struct VerificationReport: Report {
    let packs: [PackCondition]

    var columns: [Column<Self>] {
        [.table("packs", PackCondition.columns) { $0.packs }]
    }

    /// The first damage, else the first missing key.
    var error: VaultError? {
        packs.lazy.compactMap(\.damage).first ?? packs.lazy.compactMap(\.missingKey).first
    }
}

extension PackCondition {
    fileprivate static var columns: [Column<PackCondition>] {
        [
            .text("finding", "%") { $0.word }, .text("id", "%") { $0.id },
            .number("version", "version %") { $0.version }, .text("form", " %") { $0.form.rawValue },
            .text("reason", ": %") { $0.reason },
        ]
    }

    private var word: String {
        switch finding {
        case .sound: "sound"
        case .damaged: "damaged"
        case .unverified: "unverified"
        }
    }

    private var reason: String? {
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
