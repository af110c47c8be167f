import SealedPack

/// The packs that one kind of step is done for at the same time, as one bar.
struct PacksUnderWay {
    private let verb: String
    private var measures: [PackID: ByteProgress] = [:]
    private var ended: Set<PackID> = []
    private var bar: ProgressBar?

    /// - Parameter verb: what is done, such as `fetching`.
    init(_ verb: String) { self.verb = verb }

    /// - Parameter done: bytes; those of a pack's first call were there before.
    mutating func show(_ id: PackID, _ done: UInt64, of total: UInt64) {
        ended.remove(id)
        measures[id, default: ByteProgress(total: total, present: done)].done = done
        let bar = self.bar ?? ProgressBar(verb)
        self.bar = bar
        bar.show(sum, as: "\(verb) \(measures.count == 1 ? "\(id)" : "\(measures.count) packs")")
    }

    /// What one pack was still counts as long as others go on; when all have ended, the next one begins a new bar.
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
