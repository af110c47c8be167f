import SealedPack

/// The packs of a ``WorkSchedule`` that could be worked on now, in the order in which they are.
struct WorkCandidates {
    private let candidates: [Candidate]

    init(in schedule: WorkSchedule) {
        var best: [PackID: Candidate] = [:]
        for batch in schedule.batches.values where !batch.isPaused {
            var turn = batch.turns
            for number in batch.items.sorted() {
                guard let item = schedule.items[number], schedule.ending(of: number) == nil,
                    !schedule.paused.contains(item.id)
                else { continue }
                let candidate = Candidate(
                    number: number, priority: batch.priority, isActive: item.isActive, turn: turn,
                    isEssential: item.precedence == .essential,
                    waitsForEssentials: item.waitsForEssentials)
                if !item.isActive { turn += 1 }
                best[item.id] = best[item.id].map { $0.joined(with: candidate) } ?? candidate
            }
        }
        var candidates = Array(best.values)
        if candidates.contains(where: \.isEssential) { candidates.removeAll(where: \.waitsForEssentials) }
        if let highest = candidates.map(\.priority).max() {
            candidates.removeAll { !$0.priority.sharesTheLine(with: highest) }
        }
        self.candidates = candidates.sorted(by: <)
    }

    /// The items of the first ones.
    func first(_ count: Int) -> Set<Int> { Set(candidates.prefix(count).map(\.number)) }

    /// One pack: of several batches that want it one works on it, as soon as any of them wants it.
    private struct Candidate: Comparable {
        let number: Int
        let priority: LoadingPriority
        let isActive: Bool
        /// Which turn of its batch it would be.
        let turn: Int
        let isEssential: Bool
        /// Not where another batch wants the pack at once.
        let waitsForEssentials: Bool

        func joined(with other: Candidate) -> Candidate {
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
