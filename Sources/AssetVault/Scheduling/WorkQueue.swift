import SealedPack
import SystemPackage
import VaultBase
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
            let result = await VaultBase.run(
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
                await VaultBase.run(
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
    init(width: Int, network: NetworkPolicy = .unrestricted) {
        schedule = AwaitableValue(WorkSchedule(width: width, network: network))
    }

    /// What network the app allows: work that it does not admit ends at once.
    var network: NetworkPolicy {
        get { schedule.value.network }
        set { schedule.change { $0.use(newValue) } }
    }

    func makeBatch(_ priority: LoadingPriority = .standard) -> Batch { Batch(in: self, priority) }

    func pause(_ id: PackID) { schedule.change { $0.pause(id) } }
    func resume(_ id: PackID) { schedule.change { $0.resume(id) } }

    /// Cancels what is planned or running, and nothing later.
    func cancel(_ id: PackID) { schedule.change { $0.cancel { $0.id == id } } }
}

/// How soon the work for a resource request is wanted.
public struct LoadingPriority: Sendable, Hashable {
    private enum Rank: Int {
        case whenIdle, ordered, urgent
    }

    private let rank: Rank
    /// From 0 to 1.
    public let value: Double

    /// Before everything else, with all bandwidth and all processors: other work of the client waits meanwhile.
    public static let urgent = LoadingPriority(.urgent, 1)
    /// 0.5.
    public static let standard: LoadingPriority = 0.5
    /// After everything else: only while the client has no other work.
    public static let whenIdle = LoadingPriority(.whenIdle, 0)

    /// Whether it is ``urgent``.
    public var isUrgent: Bool { rank == .urgent }

    private init(_ rank: Rank, _ value: Double) { (self.rank, self.value) = (rank, value) }

    /// A value beyond 0...1 counts as the nearest one of these, and what is not a number as 0.5.
    public init(_ value: Double) {
        self.init(.ordered, value.isNaN ? 0.5 : min(max(value, 0), 1))
    }

    /// Whether work of this priority and of another one may run at the same time.
    func hasSameRank(as other: LoadingPriority) -> Bool { rank == other.rank }
}

extension LoadingPriority: ExpressibleByFloatLiteral {
    public init(floatLiteral value: Double) { self.init(value) }
}

extension LoadingPriority: Comparable {
    public static func < (left: Self, right: Self) -> Bool {
        left.rank == right.rank ? left.value < right.value : left.rank.rawValue < right.rank.rawValue
    }
}

/// Promotion: an app that needs a pack now continues the download of a downloader. It locks `ephemeral/SHA256.wanted`;
/// the downloader checks the lock also while no bytes arrive, and leaves the file to the app.
struct ForegroundMark {
    let layout: StoreLayout
    let pack: PackManifest

    /// Asks for the download as long as the value lives; nil while another process asks.
    func raise() throws(VaultError) -> FileLock? {
        try EphemeralName.discardFileOfAnotherUser(path)
        let permissions = try AreaPermissions(of: layout.ephemeral).files
        do throws(VaultError) {
            return try FileLock.tryAcquire(path, .exclusive, permissions: permissions)
        } catch {
            // A file of another user that this one can't open is not a mark; it is only in the way.
            guard let found = try FileSystem.status(of: path), found.mayBeClosed else { throw error }
            try FileSystem.discard(path)
            return try FileLock.tryAcquire(path, .exclusive, permissions: permissions)
        }
    }

    /// Returns when the mark is raised, or the task is cancelled.
    func waitUntilRaised() async {
        while (try? isRaised()) != true {
            guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { return }
        }
    }

    func isRaised() throws(VaultError) -> Bool {
        guard let found = try FileSystem.status(of: path), try EphemeralName.isReadable(found, at: path)
        else {
            return false
        }
        do throws(VaultError) {
            return try FileLock.tryAcquire(path, .shared) == nil
        } catch {
            // Replaced meanwhile: an app would have made a file.
            guard error.category == .corrupt else { throw error }
            return false
        }
    }

    private var path: FilePath { layout.foregroundMark(of: pack) }
}
