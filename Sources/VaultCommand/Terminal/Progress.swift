import AssetVault
import SealedPack
import VaultAuthoring
import VaultBase
import VaultSite

/// The progress of work: a bar after more than a second, or lines of JSON. Its time begins with the first call.
final class ProgressBar {
    private let isBar = ProgressOutput.isBar
    private var start: ContinuousClock.Instant?
    private var next = ContinuousClock.now
    private var hasDrawn = false

    /// Begins the only work of a command, and its time; the result is called with the bytes that are done.
    func begin(_ name: String, of total: UInt64) -> (UInt64) -> Void {
        startTime()
        return { [self] done in
            show(
                ByteProgress(total: total, done: done), of: Activity(name: name),
                fraction: total > 0 ? Double(done) / Double(total) : nil)
        }
    }

    /// The progress of a run over several packs or files.
    func show(_ progress: WorkProgress) {
        show(
            ByteProgress(total: progress.total, done: progress.done),
            of: Activity(name: progress.step.rawValue, pack: progress.item), fraction: progress.fraction,
            drawing: progress.whole.map { ByteProgress(total: $0.total, done: $0.done) })
    }

    /// Draws at most ten times a second.
    ///
    /// - Parameters:
    ///   - fraction: of the whole run; nil if it is not known.
    ///   - whole: what the bar shows, if that is not the measure.
    func show(
        _ measure: ByteProgress, of activity: Activity, fraction: Double?, drawing whole: ByteProgress? = nil
    ) {
        ProgressOutput.show(activity, measure, fraction: fraction)
        guard let start else { return startTime() }
        let now = ContinuousClock.now
        guard isBar, now >= next else { return }
        next = now + .milliseconds(100)
        hasDrawn = true
        Console.redraw("\(activity.label) \((whole ?? measure).shown(after: (now - start) / .seconds(1)))")
    }

    private func startTime() {
        let now = ContinuousClock.now
        (start, next) = (now, now + .seconds(1))
    }

    /// Clears the line.
    func finish() {
        if hasDrawn { Console.redraw("") }
        hasDrawn = false
    }
}

/// The progress of work in bytes: in all, left by an earlier run, and done now.
struct ByteProgress {
    /// 0 when it is not known.
    var total: UInt64
    /// Done before this run: not counted for its rate.
    var present: UInt64 = 0
    var done: UInt64 = 0

    /// Bytes a second of this run.
    func rate(after seconds: Double) -> Double {
        guard done > present, seconds > 0 else { return 0 }
        return Double(done - present) / seconds
    }

    /// Estimated seconds until the end, at the rate of this run so far; nil without an estimate.
    func remaining(after seconds: Double) -> Double? {
        let rate = rate(after: seconds)
        guard total > done, rate > 0 else { return nil }
        let remaining = Double(total - done) / rate
        return remaining < 100 * 3600 ? remaining : nil
    }

    private static let width = 30

    /// As text: a bar, or the bytes where the total is not known; the rate, and the remaining time.
    func shown(after seconds: Double) -> String {
        let rate = rate(after: seconds) / 1000
        let speed = rate < 10_000 ? "\(Int(rate)) kB/s" : "\(Int(rate / 1000)) MB/s"
        let time = remaining(after: seconds).map { "  \(Self.clock(Int($0.rounded(.up)))) left" } ?? ""
        return "\(amount)  \(speed)\(time)"
    }

    private var amount: String {
        guard total > 0 else { return "\(done / 1_000_000) MB" }
        let share = min(1, Double(done) / Double(total))
        let filled = Int(share * Double(Self.width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        return "[\(bar)] \(Int(share * 100)) %"
    }

    /// `1:05`, or `2:03:10`.
    private static func clock(_ seconds: Int) -> String {
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = seconds / 60
        guard minutes >= 60 else { return "\(minutes):\(padded(seconds % 60))" }
        return "\(minutes / 60):\(padded(minutes % 60)):\(padded(seconds % 60))"
    }
}

/// The progress of all packs in one kind of step, as one bar.
struct CombinedProgress {
    private let name: String
    private var progress: [PackID: ByteProgress] = [:]
    private var ended: Set<PackID> = []
    private let bar = ProgressBar()

    /// - Parameter name: the kind of step, such as `fetching`.
    init(_ name: String) { self.name = name }

    /// - Parameters:
    ///   - done: bytes; those of a pack's first call are from an earlier run.
    ///   - fraction: of the whole run.
    mutating func show(_ id: PackID, _ done: UInt64, of total: UInt64, fraction: Double?) {
        ended.remove(id)
        progress[id, default: ByteProgress(total: total, present: done)].done = done
        let isOne = progress.count == 1
        let activity = Activity(
            name: name, pack: isOne ? id.description : nil, packCount: isOne ? nil : progress.count)
        bar.show(sum, of: activity, fraction: fraction)
    }

    /// A finished pack counts as long as others continue; when all have ended, the next one begins a new bar.
    mutating func end(_ id: PackID) {
        guard progress[id] != nil else { return }
        ended.insert(id)
        if ended.count == progress.count { self = CombinedProgress(name) }
    }

    /// Clears the line.
    func clear() { bar.finish() }

    private var sum: ByteProgress {
        progress.values.reduce(into: ByteProgress(total: 0)) { sum, pack in
            sum.total += pack.total
            sum.present += pack.present
            sum.done += pack.done
        }
    }
}

/// How much of the work on several packs is done, by their sizes: each is fetched, then opened, and both halves count alike; or it is
/// verified.
struct PackWork {
    private var work = WeightedWork<PackID>()

    /// From 0 to 1; nil before any pack is known.
    var fraction: Double? { work.fraction }

    mutating func note(_ update: StatusUpdate) {
        // The table of names comes before the packs are known.
        guard update.id.description != PackNames.packID else { return }
        switch update {
        case .planned(let id, _, let total): work.plan(id, size: total)
        case .progress(let id, _, let bytes, let total): note(id, bytes, of: total) { $0 / 2 }
        case .opening(let id, let bytes, let total): note(id, bytes, of: total) { 0.5 + $0 / 2 }
        case .verifying(let id, let bytes, let total): note(id, bytes, of: total) { $0 }
        case .finished(let id, _), .failed(let id, _): work.note(id, share: 1)
        case .began, .sentWhole, .diskSpaceLow, .deferred, .transferring, .awaitingKey, .awaitingSet: break
        }
    }

    private mutating func note(
        _ id: PackID, _ bytes: UInt64, of total: UInt64, _ share: (Double) -> Double
    ) {
        if !work.knows(id) { work.plan(id, size: total) }
        work.note(id, share: share(Double(bytes) / Double(max(total, 1))))
    }
}
