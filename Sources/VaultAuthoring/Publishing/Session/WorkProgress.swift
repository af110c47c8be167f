import UpdateFramework
import VaultBase

/// How far a run over several packs or files is.
public struct WorkProgress: Sendable {
    public enum Step: String, Sendable {
        case sealing
        /// From a host.
        case fetching
        /// Against digests.
        case checking
        /// With a key.
        case opening
        /// What is to be sent.
        case verifying
        case sending
    }

    public let step: Step
    /// The ID of a pack, or a file; nil for all together.
    public let item: String?
    /// Bytes of the item in this step.
    public let done: UInt64
    /// The same in all; 0 where it is not known.
    public let total: UInt64
    /// Of the whole run, by the sizes of its items; nil where these are not known.
    public internal(set) var whole: (done: UInt64, total: UInt64)?

    init(_ step: Step, _ item: String?, _ done: UInt64, of total: UInt64) {
        (self.step, self.item, self.done, self.total) = (step, item, done, total)
    }

    init(_ step: Step, _ target: TargetRecord, _ done: UInt64 = 0) {
        self.init(step, target.path, done, of: target.length)
    }

    /// Of the whole run, from 0 to 1; nil where it is not known.
    public var fraction: Double? {
        whole.flatMap { $0.total > 0 ? Double($0.done) / Double($0.total) : nil }
    }
}

/// The whole of a run, to which the progress with each item is added. The items come one after the other, and the steps of each count
/// alike.
struct WholeWork<Item: Hashable & Sendable> {
    private let steps: [WorkProgress.Step]
    private var work = WeightedWork<Item>()
    private var current: Item?

    init(_ sizes: some Sequence<(Item, UInt64)>, steps: [WorkProgress.Step]) {
        self.steps = steps
        for (item, size) in sizes { work.plan(item, size: size) }
    }

    /// The same progress, with the whole.
    mutating func adding(_ progress: WorkProgress, of item: Item) -> WorkProgress {
        if let current, current != item { work.note(current, share: 1) }
        current = item
        if !work.knows(item) { work.plan(item, size: progress.total) }
        let step = steps.firstIndex(of: progress.step) ?? 0
        let part = progress.total > 0 ? Double(progress.done) / Double(progress.total) : 0
        work.note(item, share: (Double(step) + min(part, 1)) / Double(max(1, steps.count)))
        var progress = progress
        progress.whole = (UInt64(clamping: work.done), UInt64(clamping: work.size))
        return progress
    }
}
