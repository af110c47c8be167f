import AssetVault
import SealedPack
import VaultBase

/// The packs of a store, and with some commands what they changed.
struct StatusReport: Report {
    let packs: [PackStatus]
    /// The JSON member and the IDs of the packs that the command changed.
    private let changed: (name: String, ids: [PackID])?
    /// Why no key opened some packs, an error for each.
    private let locked: [VaultError]

    init(
        of layout: StoreLayout, changed: (name: String, ids: [PackID])? = nil, locked: [VaultError] = []
    ) async throws(VaultError) {
        packs = try await VaultStore(layout).status()
        (self.changed, self.locked) = (changed, locked)
    }

    var columns: [Column<Self>] {
        let packs = Column<Self>.table("packs", PackStatus.columns) { $0.packs }
        let locked = Column<Self>.table("locked", Finding.columns) {
            $0.locked.unlessEmpty?.map { Finding($0) }
        }
        return [packs] + (changed.map { changed in [.texts(changed.name) { _ in changed.ids }] } ?? [])
            + [locked.onlyJSON]
    }
}

extension PackStatus {
    fileprivate static var columns: [Column<PackStatus>] {
        [
            .text("state") { $0.state.name }, .words { $0.state.words }, .text("id", "%") { $0.id },
            .text("listedID") { $0.listedID == $0.id ? nil : $0.listedID },
            .number("version") { $0.loadedVersion }, .text("form") { $0.form?.rawValue },
            .words { $0.loaded }, .flag("purgeable", ", purgeable") { $0.isPurgeable ? true : nil },
            .flag("removed") { $0.isRemoved ? true : nil },
            .number("waitingVersion", ", version % waits for its key") { $0.waitingVersion },
            .number("readyVersion", ", version % is ready and waits for the other packs of its set") {
                $0.readyVersion
            },
            .text("failure", ", last attempt failed: %") { $0.state.failure?.reason },
            .text("category") { $0.state.failure?.category?.rawValue },
            .number("bytes", ", %") { $0.state.arriving?.bytes },
            .number("total", " of % bytes are there") { $0.state.arriving?.total },
            .text("availability") { $0.availability?.rawValue },
            // A version that waits is named already.
            .words(", %") {
                $0.waitingVersion == nil && $0.readyVersion == nil ? $0.availability?.words : nil
            },
        ]
    }

    private var loaded: String {
        loadedVersion.map { "version \($0) \(form?.rawValue ?? "")" } ?? "no version loaded"
    }
}

extension PackAvailability {
    /// For people, where it says more than the state.
    fileprivate var words: String? {
        switch self {
        case .outOfDate: "another version is listed"
        case .obsolete: "no longer listed"
        case .available, .downloading, .awaitingKey, .upToDate: nil
        }
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

    fileprivate var failure: (category: VaultError.Category?, reason: String)? {
        guard case .failed(let category, let reason) = self else { return nil }
        return (category, reason)
    }

    fileprivate var arriving: (bytes: UInt64, total: UInt64)? {
        guard case .downloading(let bytes, let total) = self else { return nil }
        return (bytes, total)
    }
}
