import SealedPack

/// The packs of a ``WorkSchedule`` that could be worked on now, in order.
///
/// It is updated in place when an item starts or ends, so that a start does not look at all packs of a large site. Any other change
/// rebuilds it.
struct WorkCandidates {
    /// What each pack is wanted for.
    private var wanted: [PackID: [Candidate]] = [:]
    private var line = Line()
    /// Packs that wait while the queue has an essential pack.
    private var waiting = Line()
    private var essentialCount = 0
    /// Items to be ended that no task works on, by batch.
    private var ended: [Int: [Int]] = [:]
    private let count: Int
    private var chosen: Set<Int>?

    /// - Parameter count: how many may be worked on at a time.
    init(in schedule: WorkSchedule, upTo count: Int) {
        self.count = count
        for (name, batch) in schedule.batches {
            var turn = batch.turns
            for number in batch.items.sorted() {
                guard let item = schedule.items[number] else { continue }
                if schedule.ending(of: number) != nil {
                    if !item.isActive { ended[name, default: []].append(number) }
                    continue
                }
                guard !batch.isPaused, !schedule.paused.contains(item.id) else { continue }
                wanted[item.id, default: []].append(
                    Candidate(
                        number: number, priority: batch.priority, isActive: item.isActive, turn: turn,
                        isEssential: item.precedence == .essential,
                        waitsForEssentials: item.waitsForEssentials))
                if !item.isActive { turn += 1 }
            }
        }
        let candidates = wanted.values.compactMap(Candidate.joining)
        line = Line(candidates.filter { !$0.waitsForEssentials })
        waiting = Line(candidates.filter(\.waitsForEssentials))
        essentialCount = candidates.count(where: \.isEssential)
    }

    /// The items to work on now: at most `count`, all with the first one's priority.
    mutating func first() -> Set<Int> {
        if let chosen { return chosen }
        let able = (line.first(count) + (essentialCount == 0 ? waiting.first(count) : [])).sorted()
        let sharing = able.filter { $0.priority.hasSameRank(as: able[0].priority) }
        let result = Set(sharing.prefix(count).map(\.number))
        chosen = result
        return result
    }

    /// One of a batch that is to be ended; each is named once.
    mutating func nextEnded(of batch: Int) -> Int? { ended[batch]?.popLast() }

    mutating func begin(_ number: Int, of id: PackID) {
        change(id) { items in
            for index in items.indices where items[index].number == number { items[index].isActive = true }
        }
    }

    mutating func end(_ number: Int, of id: PackID) {
        change(id) { items in items.removeAll { $0.number == number } }
    }

    private mutating func change(_ id: PackID, _ change: (inout [Candidate]) -> Void) {
        guard var items = wanted[id] else { return }
        if let old = Candidate.joining(items) {
            if old.waitsForEssentials { waiting.remove(old) } else { line.remove(old) }
            if old.isEssential { essentialCount -= 1 }
        }
        change(&items)
        wanted[id] = items.isEmpty ? nil : items
        if let new = Candidate.joining(items) {
            if new.waitsForEssentials { waiting.insert(new) } else { line.insert(new) }
            if new.isEssential { essentialCount += 1 }
        }
        chosen = nil
    }

    /// Sorted from last to first, because most changes are at the front.
    private struct Line {
        private var candidates: [Candidate]

        init(_ candidates: [Candidate] = []) { self.candidates = candidates.sorted(by: >) }

        func first(_ count: Int) -> ArraySlice<Candidate> { candidates.suffix(count) }

        mutating func insert(_ candidate: Candidate) {
            candidates.insert(candidate, at: position(of: candidate))
        }

        mutating func remove(_ candidate: Candidate) {
            let position = position(of: candidate)
            if position < candidates.count { candidates.remove(at: position) }
        }

        private func position(of candidate: Candidate) -> Int {
            var range = candidates.indices
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                range =
                    candidate < candidates[middle]
                    ? middle + 1..<range.upperBound : range.lowerBound..<middle
            }
            return range.lowerBound
        }
    }

    /// One pack. If several batches want it, one item does the work.
    private struct Candidate: Comparable {
        let number: Int
        let priority: LoadingPriority
        var isActive: Bool
        /// Which turn of its batch it would be.
        let turn: Int
        let isEssential: Bool
        /// Not where another batch wants the pack at once.
        let waitsForEssentials: Bool

        /// Nil for none.
        static func joining(_ items: [Candidate]) -> Candidate? {
            items.first.map { items.dropFirst().reduce($0) { $0.joined(with: $1) } }
        }

        private func joined(with other: Candidate) -> Candidate {
            let leader =
                isActive == other.isActive
                ? (number < other.number ? self : other) : (isActive ? self : other)
            return Candidate(
                number: leader.number, priority: max(priority, other.priority), isActive: leader.isActive,
                turn: min(turn, other.turn), isEssential: isEssential || other.isEssential,
                waitsForEssentials: waitsForEssentials && other.waitsForEssentials)
        }

        /// The more urgent one first; of equal ones each batch has its turn.
        static func < (left: Self, right: Self) -> Bool {
            if left.priority != right.priority { return right.priority < left.priority }
            if left.isActive != right.isActive { return left.isActive }
            return (left.turn, left.number) < (right.turn, right.number)
        }
    }
}
