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
    ///
    /// - Parameter turns: one of them was taken for it. It is given back in the end, and as long as the work is paused.
    func run<R: Sendable>(
        _ id: PackID, in turns: Turns, _ work: @escaping @Sendable () async throws(VaultError) -> R
    ) async throws(VaultError) -> R {
        begin(id)
        var hasTurn = true
        defer {
            end(id)
            if hasTurn { turns.giveBack() }
        }
        while true {
            if wishes.value.paused.contains(id) {
                turns.giveBack()
                hasTurn = false
                try await waitWhilePaused(id)
                try await turns.take(for: id.description)
                hasTurn = true
            }
            guard !wishes.value.cancelled.contains(id) else { throw VaultError.cancelled(id.description) }
            let result = await AssetVault.run(
                until: { [wishes] in _ = await wishes.wait { $0.isAgainst(id) ? true : nil } }, work)
            if Task.isCancelled { return try (result ?? .failure(.cancelled(id.description))).get() }
            if let result { return try result.get() }
        }
    }

    /// Throws when the work is given up.
    private func waitWhilePaused(_ id: PackID) async throws(VaultError) {
        let isWanted: Bool? = await wishes.wait { wishes in
            wishes.cancelled.contains(id) ? false : wishes.paused.contains(id) ? nil : true
        }
        guard isWanted == true else { throw VaultError.cancelled(id.description) }
    }

    private func begin(_ id: PackID) { wishes.change { $0.running[id, default: 0] += 1 } }

    private func end(_ id: PackID) {
        wishes.change { wishes in
            wishes.running[id, default: 1] -= 1
            if wishes.running[id] == 0 {
                wishes.running[id] = nil
                wishes.cancelled.remove(id)
            }
        }
    }
}
