import SealedPack

/// Which packs a client works on now: a function of what is wanted, by whom, and how soon.
///
/// At most `width` packs at a time, those of the highest priority first; of one priority those that run already, then in the
/// order in which they were added. Work that is overtaken is interrupted, and begins again later, adopting what it left. While
/// urgent work can run, no other does; and work for idle times runs only while no other can.
struct WorkSchedule {
    struct Item {
        let id: PackID
        let batch: Int
        let need: NetworkNeed
        /// Whether a task works on it, also one that was told to stop.
        var isActive = false
        var isCancelled = false
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
        fileprivate var items: Set<Int> = []
    }

    private let width: Int
    /// What network the app allows.
    private(set) var network: NetworkUse
    private(set) var items: [Int: Item] = [:]
    private(set) var batches: [Int: Batch] = [:]
    private(set) var paused: Set<PackID> = []
    private var count = 0
    /// The items that may run; nil after a change.
    private var chosen: Set<Int>?

    init(width: Int, network: NetworkUse = .unrestricted) {
        self.width = max(1, width)
        self.network = network
    }

    mutating func use(_ network: NetworkUse) {
        self.network = network
        chosen = nil
    }

    mutating func addBatch(_ priority: LoadingPriority) -> Int {
        count += 1
        batches[count] = Batch(priority: priority)
        return count
    }

    mutating func removeBatch(_ number: Int) {
        for item in batches[number]?.items ?? [] { items[item] = nil }
        batches[number] = nil
        chosen = nil
    }

    mutating func change(_ batch: Int, _ change: (inout Batch) -> Void) {
        guard batches[batch] != nil else { return }
        batches[batch].map { old in
            var new = old
            change(&new)
            batches[batch] = new
        }
        chosen = nil
    }

    mutating func add(_ id: PackID, to batch: Int, needing need: NetworkNeed = .anyNetwork) -> Int {
        count += 1
        items[count] = Item(id: id, batch: batch, need: need)
        batches[batch]?.items.insert(count)
        chosen = nil
        return count
    }

    mutating func end(_ item: Int) {
        guard let ended = items.removeValue(forKey: item) else { return }
        batches[ended.batch]?.items.remove(item)
        chosen = nil
    }

    /// It was interrupted, and waits again.
    mutating func deactivate(_ item: Int) {
        items[item]?.isActive = false
        chosen = nil
    }

    mutating func pause(_ id: PackID) {
        paused.insert(id)
        chosen = nil
    }

    mutating func resume(_ id: PackID) {
        paused.remove(id)
        chosen = nil
    }

    /// Cancels what is wanted now, and nothing later.
    mutating func cancel(where isMeant: (Item) -> Bool) {
        for (number, item) in items where isMeant(item) { items[number]?.isCancelled = true }
        chosen = nil
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
        let waiting = (batches[batch]?.items ?? []).filter { items[$0]?.isActive == false }
        let next: Int?
        if let ending = waiting.first(where: { ending(of: $0) != nil }) {
            next = ending
        } else {
            let active = items.values.filter(\.isActive)
            let busy = Set(active.map(\.id))
            guard active.count < width else { return nil }
            next = choose().intersection(waiting).filter { number in
                items[number].map { !busy.contains($0.id) } ?? false
            }.min()
        }
        guard let next else { return nil }
        items[next]?.isActive = true
        return next
    }

    /// Whether an active item is to stop: it is to be ended, or was paused or overtaken.
    mutating func isStopped(_ item: Int) -> Bool { ending(of: item) != nil || !choose().contains(item) }

    private mutating func choose() -> Set<Int> {
        if let chosen { return chosen }
        var best: [PackID: Candidate] = [:]
        for (number, item) in items {
            guard ending(of: number) == nil, let batch = batches[item.batch], !batch.isPaused,
                !paused.contains(item.id)
            else { continue }
            let candidate = Candidate(number: number, priority: batch.priority, isActive: item.isActive)
            best[item.id] = best[item.id].map { $0.joined(with: candidate) } ?? candidate
        }
        var candidates = Array(best.values)
        if let highest = candidates.map(\.priority).max() {
            candidates.removeAll { !$0.priority.sharesTheLine(with: highest) }
        }
        let result = Set(candidates.sorted(by: <).prefix(width).map(\.number))
        chosen = result
        return result
    }

    /// One pack: of several batches that want it one works on it, as soon as any of them wants it.
    private struct Candidate: Comparable {
        let number: Int
        let priority: LoadingPriority
        let isActive: Bool

        func joined(with other: Candidate) -> Candidate {
            let leader =
                isActive == other.isActive
                ? (number < other.number ? self : other) : (isActive ? self : other)
            return Candidate(
                number: leader.number, priority: max(priority, other.priority), isActive: leader.isActive)
        }

        /// The more urgent one first.
        static func < (left: Self, right: Self) -> Bool {
            if left.priority != right.priority { return right.priority < left.priority }
            if left.isActive != right.isActive { return left.isActive }
            return left.number < right.number
        }
    }
}
