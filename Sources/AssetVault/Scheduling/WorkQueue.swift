import SealedPack
import VaultConcurrency
import VaultErrors

/// The work of a client on single packs, in the order of a ``WorkSchedule``: an app may pause, resume, cancel and reorder it while
/// it runs.
final class WorkQueue: Sendable {
    /// What one caller wants, as long as it is needed.
    final class Batch: Sendable {
        fileprivate let queue: WorkQueue
        fileprivate let number: Int

        fileprivate init(in queue: WorkQueue, _ priority: LoadingPriority) {
            self.queue = queue
            number = queue.schedule.change { $0.addBatch(priority) }
        }

        deinit { queue.schedule.change { [number] in $0.removeBatch(number) } }

        var priority: LoadingPriority {
            get { queue.schedule.value.batches[number]?.priority ?? .standard }
            set { queue.schedule.change { [number] in $0.change(number) { $0.priority = newValue } } }
        }

        func pause() { queue.schedule.change { [number] in $0.change(number) { $0.isPaused = true } } }
        func resume() { queue.schedule.change { [number] in $0.change(number) { $0.isPaused = false } } }
        func cancel() {
            queue.schedule.change { [number] in $0.cancel { $0.batch == number } }
        }

        /// Adds a pack. Returns its number, which ends with ``end(_:)``, whether or not it was worked on.
        func add(_ id: PackID) -> Int { queue.schedule.change { [number] in $0.add(id, to: number) } }

        func end(_ item: Int) { queue.schedule.change { $0.end(item) } }

        /// Waits until one of its packs is to be worked on. Nil when all have ended, and when the task is cancelled.
        func next() async -> Int? {
            let item: Int?? = await queue.schedule.wait { [number] schedule in
                if let item = schedule.start(in: number) { return .some(item) }
                return schedule.isDone(number) ? .some(nil) : nil
            }
            return item ?? nil
        }

        /// Works on a pack that ``next()`` named. Nil when it was interrupted: it waits again then. Throws when it was cancelled.
        func run<R: Sendable>(
            _ item: Int, _ id: PackID, _ body: @escaping @Sendable () async throws(VaultError) -> R
        ) async throws(VaultError) -> R? {
            let schedule = queue.schedule
            guard !isCancelled(item) else { throw VaultError.cancelled(id.description) }
            let result = await VaultConcurrency.run(
                until: { _ = await schedule.wait { $0.isStopped(item) ? true : nil } }, body)
            if let result { return try result.get() }
            guard !Task.isCancelled, !isCancelled(item) else { throw VaultError.cancelled(id.description) }
            schedule.change { $0.deactivate(item) }
            return nil
        }

        private func isCancelled(_ item: Int) -> Bool {
            queue.schedule.value.items[item]?.isCancelled ?? true
        }
    }

    private let schedule: AwaitableValue<WorkSchedule>

    /// - Parameter width: the number of packs that are worked on at a time.
    init(width: Int) { schedule = AwaitableValue(WorkSchedule(width: width)) }

    func makeBatch(_ priority: LoadingPriority = .standard) -> Batch { Batch(in: self, priority) }

    func pause(_ id: PackID) { schedule.change { $0.pause(id) } }
    func resume(_ id: PackID) { schedule.change { $0.resume(id) } }

    /// Cancels what is planned or running, and nothing later.
    func cancel(_ id: PackID) { schedule.change { $0.cancel { $0.id == id } } }
}
