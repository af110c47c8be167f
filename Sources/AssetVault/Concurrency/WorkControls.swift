import SealedPack
import VaultErrors

/// Lets an app hold up, go on with or give up the work on single packs.
final class WorkControls: Sendable {
    private struct Wishes {
        var paused: Set<PackID> = []
        /// Cleared when the work that it concerns is over.
        var cancelled: Set<PackID> = []
        var running: [PackID: Int] = [:]

        func isAgainst(_ id: PackID) -> Bool { paused.contains(id) || cancelled.contains(id) }
    }

    private let wishes = Awaited(Wishes())

    func pause(_ id: PackID) { wishes.change { _ = $0.paused.insert(id) } }
    func resume(_ id: PackID) { wishes.change { _ = $0.paused.remove(id) } }

    /// Concerns what is under way, and nothing later.
    func cancel(_ id: PackID) {
        wishes.change { wishes in
            if wishes.running[id] != nil { wishes.cancelled.insert(id) }
        }
    }

    /// Runs `work` while nobody wishes otherwise: a pause cancels it, and it begins again, adopting what it left, when the
    /// pause is over.
    func run<R: Sendable>(
        _ id: PackID, _ work: @escaping @Sendable () async throws(VaultError) -> R
    ) async throws(VaultError) -> R {
        wishes.change { $0.running[id, default: 0] += 1 }
        defer {
            wishes.change { wishes in
                wishes.running[id, default: 1] -= 1
                if wishes.running[id] == 0 {
                    wishes.running[id] = nil
                    wishes.cancelled.remove(id)
                }
            }
        }
        while true {
            let isWanted: Bool? = await wishes.wait { wishes in
                wishes.cancelled.contains(id) ? false : wishes.paused.contains(id) ? nil : true
            }
            guard isWanted == true else { throw VaultError.cancelled(id.description) }
            let result = await AssetVault.run(
                until: { [wishes] in _ = await wishes.wait { $0.isAgainst(id) ? true : nil } }, work)
            if Task.isCancelled { return try (result ?? .failure(.cancelled(id.description))).get() }
            if let result { return try result.get() }
        }
    }
}
