import SealedPack

/// The packs that a client works on now: a function of the requested packs, their callers and their priorities.
///
/// At most `width` packs at a time, those of the highest priority first; of one priority those that run already, then one of each
/// batch in turn, in the order in which they were added to it. No download that waits for essential packs runs while work on one of
/// these can. Work is interrupted when more urgent work is added; it begins again later, and continues from its partial files.
/// While urgent work can run, no other does; and work for idle times runs only while no other can.
struct WorkSchedule {
    struct Item {
        let id: PackID
        let batch: Int
        let need: NetworkNeed
        let precedence: DownloadPrecedence
        /// Whether a task works on it, also one that is being cancelled.
        var isActive = false
        var isCancelled = false

        /// Whether it waits while an essential pack is missing. Work without the network need not wait.
        var waitsForEssentials: Bool { precedence == .afterEssentials && need != .noNetwork }
    }

    /// Why an item is not worked on, whatever its turn.
    enum Ending {
        case cancelled
        /// The app allows no network.
        case noNetwork
        /// The network is metered, and the item can wait for another one.
        case deferred
    }

    /// What one caller wants.
    struct Batch {
        var priority: LoadingPriority
        var isPaused = false
        /// Whether its caller wants none of it any more, not even what is added.
        var isCancelled = false
        /// How many of its items were started, as far as they count beside other batches of its priority: one that joins them begins with
        /// as many as the least of them.
        fileprivate(set) var turns = 0
        fileprivate(set) var items: Set<Int> = []
    }

    private let width: Int
    /// What network the app allows.
    private(set) var network: NetworkPolicy
    private(set) var items: [Int: Item] = [:]
    private(set) var batches: [Int: Batch] = [:]
    private(set) var paused: Set<PackID> = []
    private var count = 0
    private var active: Set<Int> = []
    /// Nil after a change that may be of all.
    private var candidates: WorkCandidates?

    init(width: Int, network: NetworkPolicy = .unrestricted) {
        self.width = max(1, width)
        self.network = network
    }

    mutating func use(_ network: NetworkPolicy) {
        self.network = network
        candidates = nil
    }

    mutating func addBatch(_ priority: LoadingPriority) -> Int {
        count += 1
        batches[count] = Batch(priority: priority)
        return count
    }

    mutating func removeBatch(_ number: Int) {
        let ended = batches[number]?.items ?? []
        for item in ended { items[item] = nil }
        active.subtract(ended)
        batches[number] = nil
        candidates = nil
    }

    mutating func change(_ batch: Int, _ change: (inout Batch) -> Void) {
        guard batches[batch] != nil else { return }
        batches[batch].map { old in
            var new = old
            change(&new)
            batches[batch] = new
            if new.priority != old.priority || new.isPaused != old.isPaused { join(batch) }
        }
        candidates = nil
    }

    mutating func add(
        _ id: PackID, to batch: Int, needing need: NetworkNeed = .anyNetwork,
        _ precedence: DownloadPrecedence = .independent
    ) -> Int {
        count += 1
        items[count] = Item(id: id, batch: batch, need: need, precedence: precedence)
        items[count]?.isCancelled = batches[batch]?.isCancelled ?? true
        if batches[batch]?.items.isEmpty == true { join(batch) }
        batches[batch]?.items.insert(count)
        candidates = nil
        return count
    }

    mutating func end(_ item: Int) {
        guard let ended = items.removeValue(forKey: item) else { return }
        batches[ended.batch]?.items.remove(item)
        active.remove(item)
        candidates?.end(item, of: ended.id)
    }

    /// It was interrupted, and waits again.
    mutating func deactivate(_ item: Int) {
        items[item]?.isActive = false
        active.remove(item)
        candidates = nil
    }

    mutating func pause(_ id: PackID) {
        paused.insert(id)
        candidates = nil
    }

    mutating func resume(_ id: PackID) {
        paused.remove(id)
        candidates = nil
    }

    /// Cancels what is wanted now, and nothing later.
    mutating func cancel(where isMeant: (Item) -> Bool) {
        for (number, item) in items where isMeant(item) { items[number]?.isCancelled = true }
        candidates = nil
    }

    /// Cancels what a batch wants, now and later, until its ``Batch/isCancelled`` is cleared.
    mutating func cancel(_ batch: Int) {
        change(batch) { $0.isCancelled = true }
        cancel { $0.batch == batch }
    }

    /// Begins to take turns with the others of its priority. Earlier turns do not count.
    private mutating func join(_ batch: Int) {
        guard let priority = batches[batch]?.priority else { return }
        let others = batches.filter { number, other in
            number != batch && other.priority == priority && !other.isPaused && !other.items.isEmpty
        }
        if let least = others.values.map(\.turns).min() { batches[batch]?.turns = least }
    }

    /// Nil for an item that is worked on in its turn.
    func ending(of item: Int) -> Ending? {
        guard let item = items[item], !item.isCancelled else { return .cancelled }
        return network.admits(item.need) ? nil : (network == .none ? .noNetwork : .deferred)
    }

    func isDone(_ batch: Int) -> Bool { batches[batch]?.items.isEmpty ?? true }

    /// The next item of a batch to be worked on: it is active then. One that is not to be worked on is handed out at once, to be
    /// ended.
    mutating func start(in batch: Int) -> Int? {
        guard let next = nextEnded(of: batch) ?? nextChosen(of: batch) else { return nil }
        items[next]?.isActive = true
        active.insert(next)
        return next
    }

    private mutating func nextEnded(of batch: Int) -> Int? {
        lookAtAll()
        while let ended = candidates?.nextEnded(of: batch) {
            if items[ended]?.isActive == false { return ended }
        }
        return nil
    }

    private mutating func nextChosen(of batch: Int) -> Int? {
        guard active.count < width else { return nil }
        let busy = Set(active.compactMap { items[$0]?.id })
        let next = choose().filter { number in
            guard let item = items[number] else { return false }
            return item.batch == batch && !item.isActive && !busy.contains(item.id)
        }.min()
        guard let next, let id = items[next]?.id else { return nil }
        batches[batch]?.turns += 1
        candidates?.begin(next, of: id)
        return next
    }

    /// Whether an active item is to stop: it is to be ended, or was paused or overtaken.
    mutating func isStopped(_ item: Int) -> Bool { ending(of: item) != nil || !choose().contains(item) }

    private mutating func choose() -> Set<Int> {
        lookAtAll()
        return candidates?.first() ?? []
    }

    private mutating func lookAtAll() {
        if candidates == nil { candidates = WorkCandidates(in: self, upTo: width) }
    }
}
