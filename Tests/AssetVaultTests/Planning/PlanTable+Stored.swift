import SealedPack
import Testing

@testable import AssetVault

/// What the words of the table stand for. Version 2 is offered.
extension PlanTable.Case {
    var offered: PackManifest { get throws { try pack("levels/one", policy) } }

    var planningOccasion: PlanTrigger {
        get throws {
            switch trigger {
            case "install": .downloader(.install)
            case "update": .downloader(.update)
            case "periodic": .downloader(.periodic)
            case "automatic": .app(.automatic)
            case "all": .app(.all)
            case "only": .app(.only([try PackID("levels/one")]))
            default: throw UnknownWord(word: trigger)
            }
        }
    }

    /// Nil where nothing was ever recorded.
    var storedPack: StoredPack? {
        get throws {
            let id = try PackID("levels/one")
            let same = try offered
            let older = try pack("levels/one", version: 1, policy)
            let newer = try pack("levels/one", version: 3, policy)
            return switch stored {
            case "absent": nil
            case "partial-same": StoredPack(id: id, partial: same)
            case "partial-other": StoredPack(id: id, partial: older)
            case "downloaded-same": StoredPack(id: id, downloaded: same)
            case "downloaded-other": StoredPack(id: id, downloaded: older)
            case "waiting-same": StoredPack(id: id, waiting: same)
            case "waiting-older": StoredPack(id: id, waiting: older)
            case "loaded-same": StoredPack(id: id, loaded: same)
            case "loaded-older": StoredPack(id: id, loaded: older)
            case "loaded-newer": StoredPack(id: id, loaded: newer)
            case "loaded-retagged":
                StoredPack(id: id, loaded: try pack("levels/one", policy, tags: ["winter"]))
            case "failed": StoredPack(id: id, hasFailed: true)
            case "failed-partial-same": StoredPack(id: id, partial: same, hasFailed: true)
            case "failed-waiting-same": StoredPack(id: id, waiting: same, hasFailed: true)
            case "failed-loaded-older": StoredPack(id: id, loaded: older, hasFailed: true)
            case "failed-loaded-same": StoredPack(id: id, loaded: same, hasFailed: true)
            case "being-removed":
                StoredPack(
                    id: id, loaded: same, waiting: same, downloaded: same, partial: same, hasFailed: true,
                    isBeingRemoved: true)
            case "loaded-and-others":
                StoredPack(id: id, loaded: same, waiting: same, downloaded: older, partial: newer)
            case "waiting-twice":
                StoredPack(id: id, loaded: older, waiting: same, downloaded: same, partial: older)
            case "ready-same": StoredPack(id: id, loaded: older, ready: same)
            case "ready-older": StoredPack(id: id, loaded: older, ready: older)
            case "resumed-update": StoredPack(id: id, loaded: older, waiting: older, partial: same)
            default: throw UnknownWord(word: stored)
            }
        }
    }

    var expectedRemovals: [PlannedRemoval] {
        get throws {
            let found = try storedPack
            func file(_ stage: StoredFile.Stage, _ pack: PackManifest?) throws -> PlannedRemoval {
                .file(StoredFile(stage: stage, pack: try #require(pack)))
            }
            return switch removed {
            case "-": []
            case "all": [.pack(try PackID("levels/one"))]
            case "ready": [try file(.ready, found?.ready)]
            case "waiting": [try file(.waiting, found?.waiting)]
            case "downloaded": [try file(.downloaded, found?.downloaded)]
            case "partial": [try file(.partial, found?.partial)]
            case "two": [try file(.downloaded, found?.downloaded), try file(.partial, found?.partial)]
            case "three":
                [
                    try file(.waiting, found?.waiting), try file(.downloaded, found?.downloaded),
                    try file(.partial, found?.partial),
                ]
            default: throw UnknownWord(word: removed)
            }
        }
    }
}

struct UnknownWord: Error { let word: String }

extension Plan {
    /// All that is planned beside removals, in the words of the table.
    var cells: [String] {
        let kept = kept.map { id in refreshed.contains { $0.id == id } ? "refresh" : "keep" }
        return downloads.map(\.cell) + transfers.map { _ in "open" } + kept
    }
}

extension PlannedDownload {
    fileprivate var cell: String {
        let priority =
            switch priority {
            case .foreground: "F"
            case .essential: "E"
            case .lateEssential: "L"
            case .prefetch: "P"
            case .onDemand: "D"
            }
        let reason =
            switch reason {
            case .new: "new"
            case .newerVersion: "newer"
            case .adoptedPartial: "adopt"
            }
        return "\(priority)/\(reason)"
    }
}
