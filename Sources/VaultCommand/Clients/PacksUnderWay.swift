import SealedPack

/// The progress of all packs in one kind of step, as one bar.
struct PacksUnderWay {
    private let verb: String
    private var measures: [PackID: ByteProgress] = [:]
    private var ended: Set<PackID> = []
    private var bar: ProgressBar?

    /// - Parameter verb: the kind of step, such as `fetching`.
    init(_ verb: String) { self.verb = verb }

    /// - Parameter done: bytes; those of a pack's first call are from an earlier run.
    mutating func show(_ id: PackID, _ done: UInt64, of total: UInt64) {
        ended.remove(id)
        measures[id, default: ByteProgress(total: total, present: done)].done = done
        let bar = self.bar ?? ProgressBar(verb)
        self.bar = bar
        bar.show(sum, as: "\(verb) \(measures.count == 1 ? "\(id)" : "\(measures.count) packs")")
    }

    /// A finished pack counts as long as others continue; when all have ended, the next one begins a new bar.
    mutating func end(_ id: PackID) {
        guard measures[id] != nil else { return }
        ended.insert(id)
        if ended.count == measures.count { self = PacksUnderWay(verb) }
    }

    /// Clears the line.
    func clear() { bar?.finish() }

    private var sum: ByteProgress {
        measures.values.reduce(into: ByteProgress(total: 0)) { sum, measure in
            sum.total += measure.total
            sum.present += measure.present
            sum.done += measure.done
        }
    }
}
