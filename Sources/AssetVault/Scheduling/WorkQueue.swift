import SealedPack
import VaultConcurrency
import VaultErrors
import VaultFileSystem

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

        /// Ends what it wants, and what is added later, until it begins again.
        func cancel() { queue.schedule.change { [number] in $0.cancel(number) } }
        func begin() { queue.schedule.change { [number] in $0.change(number) { $0.isCancelled = false } } }

        /// Runs work that may add packs, and interrupts it when the batch is cancelled: throws `.cancelled` at `place` then.
        func whileWanted<R: Sendable>(
            at place: String, _ body: @escaping @Sendable () async throws(VaultError) -> R
        ) async throws(VaultError) -> R {
            let (schedule, number) = (queue.schedule, number)
            let result = await VaultConcurrency.run(
                until: { _ = await schedule.wait { $0.batches[number]?.isCancelled == false ? nil : true } },
                body)
            guard let result else { throw VaultError.cancelled(place) }
            return try result.get()
        }

        /// Adds a pack. Returns its number, which ends with ``end(_:)``, whether or not it was worked on.
        func add(
            _ id: PackID, needing need: NetworkNeed, _ precedence: DownloadPrecedence = .independent
        ) -> Int {
            queue.schedule.change { [number] in $0.add(id, to: number, needing: need, precedence) }
        }

        func end(_ item: Int) { queue.schedule.change { $0.end(item) } }

        /// Waits until one of its packs is to be worked on. Nil when all have ended, and when the task is cancelled.
        func next() async -> Int? {
            let item: Int?? = await queue.schedule.wait { [number] schedule in
                if let item = schedule.start(in: number) { return .some(item) }
                return schedule.isDone(number) ? .some(nil) : nil
            }
            return item ?? nil
        }

        /// Whether a pack is left until the network is not metered.
        func isDeferred(_ item: Int) -> Bool { queue.schedule.value.ending(of: item) == .deferred }

        /// Works on a pack that ``next()`` named. Nil when it was interrupted: it waits again then. Throws when it is to be ended.
        func run<R: Sendable>(
            _ item: Int, _ id: PackID, _ body: @escaping @Sendable () async throws(VaultError) -> R
        ) async throws(VaultError) -> R? {
            let schedule = queue.schedule
            try requireWanted(item, id)
            let limit = Parallelism.Limit { [self] in processorLimit }
            let result = await Parallelism.$limit.withValue(limit) {
                await VaultConcurrency.run(
                    until: { _ = await schedule.wait { $0.isStopped(item) ? true : nil } }, body)
            }
            if let result { return try result.get() }
            if Task.isCancelled { throw VaultError.cancelled(id.description) }
            try requireWanted(item, id)
            schedule.change { $0.deactivate(item) }
            return nil
        }

        private func requireWanted(_ item: Int, _ id: PackID) throws(VaultError) {
            switch queue.schedule.value.ending(of: item) {
            case nil: break
            case .cancelled: throw VaultError.cancelled(id.description)
            case .noNetwork: throw VaultError.noNetwork(id.description)
            case .deferred: throw VaultError.metered(id.description)
            }
        }

        /// Only urgent work takes all processors: one is left to the app.
        private var processorLimit: Int {
            priority.isUrgent ? .max : max(1, ProcessEnvironment.processorCount - 1)
        }
    }

    private let schedule: AwaitableValue<WorkSchedule>

    /// - Parameter width: the number of packs that are worked on at a time.
    init(width: Int, network: NetworkUse = .unrestricted) {
        schedule = AwaitableValue(WorkSchedule(width: width, network: network))
    }

    /// What network the app allows: work that it does not admit ends at once.
    var network: NetworkUse {
        get { schedule.value.network }
        set { schedule.change { $0.use(newValue) } }
    }

    func makeBatch(_ priority: LoadingPriority = .standard) -> Batch { Batch(in: self, priority) }

    func pause(_ id: PackID) { schedule.change { $0.pause(id) } }
    func resume(_ id: PackID) { schedule.change { $0.resume(id) } }

    /// Cancels what is planned or running, and nothing later.
    func cancel(_ id: PackID) { schedule.change { $0.cancel { $0.id == id } } }
}
