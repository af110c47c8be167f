import SealedPack
import VaultConcurrency
import VaultErrors

/// Lets an app pause, resume and cancel the work on single packs.
final class WorkControls: Sendable {
    /// Work on one pack that is planned or running.
    struct Work: Sendable {
        let id: PackID
        fileprivate let number: Int
    }

    private struct Requests {
        var paused: Set<PackID> = []
        /// The last work that the cancellation concerns; cleared when none is planned.
        var cancelled: [PackID: Int] = [:]
        var planned: [PackID: Int] = [:]
        var count = 0

        func isCancelled(_ work: Work) -> Bool { work.number <= cancelled[work.id, default: 0] }
        func isPaused(_ work: Work) -> Bool { paused.contains(work.id) }
    }

    private let requests = AwaitableValue(Requests())

    func pause(_ id: PackID) { requests.change { _ = $0.paused.insert(id) } }
    func resume(_ id: PackID) { requests.change { _ = $0.paused.remove(id) } }

    /// Cancels what is planned or running, and nothing later.
    func cancel(_ id: PackID) {
        requests.change { requests in
            if requests.planned[id] != nil { requests.cancelled[id] = requests.count }
        }
    }

    /// Work that ends with ``end(_:)``, whether or not it was run.
    func plan(_ id: PackID) -> Work {
        requests.change { requests in
            requests.count += 1
            requests.planned[id, default: 0] += 1
            return Work(id: id, number: requests.count)
        }
    }

    func end(_ work: Work) {
        requests.change { requests in
            requests.planned[work.id, default: 1] -= 1
            guard requests.planned[work.id] == 0 else { return }
            requests.planned[work.id] = nil
            requests.cancelled[work.id] = nil
        }
    }

    /// Runs `body` unless it is paused or cancelled: a pause ends it, and it begins again, adopting what it left, when the
    /// pause is over.
    ///
    /// - Parameter permits: one was acquired for it. It is released at the end, and as long as the work is paused.
    func run<R: Sendable>(
        _ work: Work, in permits: AsyncSemaphore, _ body: @escaping @Sendable () async throws(VaultError) -> R
    ) async throws(VaultError) -> R {
        let place = work.id.description
        var hasPermit = true
        defer { if hasPermit { permits.release() } }
        while true {
            if requests.value.isPaused(work) {
                permits.release()
                hasPermit = false
                try await waitWhilePaused(work)
                try await permits.acquire(for: place)
                hasPermit = true
            }
            guard !requests.value.isCancelled(work) else { throw VaultError.cancelled(place) }
            let result = await VaultConcurrency.run(
                until: { [requests] in
                    _ = await requests.wait { $0.isPaused(work) || $0.isCancelled(work) ? true : nil }
                }, body)
            if Task.isCancelled { return try (result ?? .failure(.cancelled(place))).get() }
            if let result { return try result.get() }
        }
    }

    /// Throws when the work is cancelled.
    private func waitWhilePaused(_ work: Work) async throws(VaultError) {
        let isWanted: Bool? = await requests.wait { requests in
            requests.isCancelled(work) ? false : requests.isPaused(work) ? nil : true
        }
        guard isWanted == true else { throw VaultError.cancelled(work.id.description) }
    }
}
