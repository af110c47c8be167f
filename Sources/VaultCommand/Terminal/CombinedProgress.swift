import SealedPack

/// The progress of all packs in one kind of step, as one bar.
struct CombinedProgress {
    private let label: String
    private var progress: [PackID: ByteProgress] = [:]
    private var ended: Set<PackID> = []
    private var bar: ProgressBar?

    /// - Parameter label: the kind of step, such as `fetching`.
    init(_ label: String) { self.label = label }

    /// - Parameter done: bytes; those of a pack's first call are from an earlier run.
    mutating func show(_ id: PackID, _ done: UInt64, of total: UInt64) {
        ended.remove(id)
        progress[id, default: ByteProgress(total: total, present: done)].done = done
        let bar = self.bar ?? ProgressBar(label)
        self.bar = bar
        bar.show(sum, as: "\(label) \(progress.count == 1 ? "\(id)" : "\(progress.count) packs")")
    }

    /// A finished pack counts as long as others continue; when all have ended, the next one begins a new bar.
    mutating func end(_ id: PackID) {
        guard progress[id] != nil else { return }
        ended.insert(id)
        if ended.count == progress.count { self = CombinedProgress(label) }
    }

    /// Clears the line.
    func clear() { bar?.finish() }

    private var sum: ByteProgress {
        progress.values.reduce(into: ByteProgress(total: 0)) { sum, pack in
            sum.total += pack.total
            sum.present += pack.present
            sum.done += pack.done
        }
    }
}
