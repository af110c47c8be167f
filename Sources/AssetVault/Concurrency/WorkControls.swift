import SealedPack
import VaultErrors

/// Lets an app hold up, go on with or give up the work on single packs.
final class WorkControls: Sendable {
    private enum Wish {
        case pause, cancel
    }

    private let wishes = Awaited<[PackID: Wish]>([:])

    func pause(_ id: PackID) { wishes.change { $0[id] = .pause } }
    func resume(_ id: PackID) { wishes.change { $0[id] = nil } }
    func cancel(_ id: PackID) { wishes.change { $0[id] = .cancel } }

    /// Runs `work` while nobody wishes otherwise: a pause cancels it, and it begins again, adopting what it left, when the
    /// pause is over.
    func run<R: Sendable>(
        _ id: PackID, _ work: @escaping @Sendable () async throws(VaultError) -> R
    ) async throws(VaultError) -> R {
        while true {
            let isWanted = await wishes.wait { wishes in
                wishes[id] == .pause ? nil : wishes.removeValue(forKey: id) == nil
            }
            guard isWanted == true else { throw VaultError.cancelled(id.description) }
            let result: Result<R, VaultError>? = await withTaskGroup(of: Result<R, VaultError>?.self) {
                group in
                group.addTask {
                    do throws(VaultError) { return .success(try await work()) } catch {
                        return .failure(error)
                    }
                }
                group.addTask { [wishes] in
                    _ = await wishes.wait { $0[id] }
                    return nil
                }
                let first = await group.next() ?? nil
                group.cancelAll()
                if let first { return first }
                // Interrupted; what was just done all the same counts.
                guard case .success(let value)?? = await group.next() else { return nil }
                return .success(value)
            }
            if Task.isCancelled { return try (result ?? .failure(.cancelled(id.description))).get() }
            if let result { return try result.get() }
        }
    }
}
