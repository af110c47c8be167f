public import SealedPack
import VaultBase

/// The progress of several packs: of an update or a request, or of all packs that status updates report.
///
/// ```swift
/// var progress = LoadingProgress(of: [.essential])
/// for await update in client.statusUpdates { bar.show(progress.note(update).fraction) }
/// ```
///
/// The total is known from the start: a plan announces all its downloads before the first one begins. A pack that failed still
/// counts, with the bytes that were received: the end is reached only when every planned pack is there. A pack that waits for a
/// network that is not metered (``StatusUpdate/deferred(_:)``) no longer counts.
public struct LoadingProgress: Sendable, Hashable {
    /// One pack.
    public struct Part: Sendable, Hashable {
        /// Downloaded bytes, also those that were there before.
        public fileprivate(set) var bytes: UInt64 = 0
        public let total: UInt64
    }

    /// The packs that were missing.
    public private(set) var packs: [PackID: Part] = [:]
    /// Bytes of these packs that are here, those of earlier downloads included.
    public private(set) var bytes: UInt64 = 0
    /// Bytes in all.
    public private(set) var total: UInt64 = 0
    /// From 0 to 1, and never less than before; 1 where nothing is missing, 0 before that is known.
    public private(set) var fraction = 0.0
    private let policies: Set<PackPolicy>

    /// - Parameter policies: the policies of the packs that count; by default all.
    public init(of policies: Set<PackPolicy> = Set(PackPolicy.allCases)) { self.policies = policies }

    /// Adds an update; they must come in their order. Returns itself.
    @discardableResult
    public mutating func note(_ update: StatusUpdate) -> LoadingProgress {
        if case .planned(let id, let policy, let total) = update, policies.contains(policy) {
            set(Part(total: total), of: id)
        } else {
            change(by: update)
        }
        return self
    }

    /// The packs that are missing.
    mutating func plan(_ missing: [PackManifest]) {
        packs = Dictionary(missing.map { ($0.id, Part(total: $0.length)) }) { $1 }
        (bytes, total) = (0, packs.values.saturatingSum(\.total))
        noteFraction()
    }

    /// Adds an update of a pack that counts. Returns whether anything changed.
    @discardableResult
    mutating func change(by update: StatusUpdate) -> Bool {
        guard var part = packs[update.id] else { return false }
        switch update {
        case .progress(_, _, let bytes, _): part.bytes = max(part.bytes, min(bytes, part.total))
        case .opening, .transferring, .finished(_, .loaded), .finished(_, .toBeTransferred):
            part.bytes = part.total
        case .deferred:
            set(nil, of: update.id)
            return true
        case .planned, .began, .sentWhole, .diskSpaceLow, .verifying, .awaitingKey, .awaitingSet, .finished,
            .failed:
            break
        }
        guard part != packs[update.id] else { return false }
        set(part, of: update.id)
        return true
    }

    /// All is there. Returns whether anything changed.
    mutating func complete() -> Bool {
        let before = self
        for (id, part) in packs where part.bytes < part.total {
            set(Part(bytes: part.total, total: part.total), of: id)
        }
        noteFraction()
        return self != before
    }

    private mutating func set(_ part: Part?, of id: PackID) {
        if let old = packs[id] {
            bytes -= min(old.bytes, bytes)
            total -= min(old.total, total)
        }
        packs[id] = part
        if let part {
            bytes.saturatingAdd(part.bytes)
            total.saturatingAdd(part.total)
        }
        noteFraction()
    }

    private mutating func noteFraction() {
        fraction = max(fraction, total == 0 ? 1 : Double(bytes) / Double(total))
    }
}

/// The progress of one request or update, as its client reports it; of a request, one attempt to begin the access after the other.
final class LoadingTracker: Sendable {
    private struct State {
        var progress = LoadingProgress()
        /// Of the progress in this attempt: 0 before it is known what is missing.
        var changes = 0
        /// How many have begun.
        var attempts = 0
        var isUnderWay = false
        /// Whether no other attempt can follow: the access has begun, or ended.
        var isOver = false

        mutating func begin() {
            progress = LoadingProgress()
            changes = 0
            attempts += 1
            isUnderWay = true
        }
    }

    private let state = AwaitableValue(State())

    var progress: LoadingProgress { state.value.progress }

    /// An attempt that may download begins.
    func begin() { state.change { $0.begin() } }

    /// The packs that are missing.
    func plan(_ packs: [PackManifest]) {
        state.change { state in
            state.progress.plan(packs)
            state.changes += 1
        }
    }

    func note(_ update: StatusUpdate) {
        state.change { state in
            if state.progress.change(by: update) { state.changes += 1 }
        }
    }

    /// The attempt brought no access; another one may follow.
    func fail() { state.change { $0.isUnderWay = false } }

    /// The access has begun: nothing is missing. If no attempt is under way, it began without downloads, and counts as one more attempt.
    func succeed() {
        state.change { state in
            if !state.isUnderWay { state.begin() }
            if state.progress.complete() || state.changes == 0 { state.changes += 1 }
            (state.isUnderWay, state.isOver) = (false, true)
        }
    }

    /// The request has ended.
    func close() { state.change { ($0.isUnderWay, $0.isOver) = (false, true) } }

    /// The attempt that is under way, else the next one.
    fileprivate var observedAttempt: Int {
        let state = state.value
        return state.isUnderWay || state.isOver ? state.attempts : state.attempts + 1
    }

    /// The progress of an attempt after a number of changes, with the number that it was reached by; nil at the end.
    fileprivate func next(after seen: Int, in attempt: Int) async -> (LoadingProgress, Int)? {
        let next: (LoadingProgress, Int)?? = await state.wait { state in
            if state.attempts == attempt, state.changes > seen {
                return .some((state.progress, state.changes))
            }
            let isEnded = state.attempts > attempt || state.attempts == attempt && !state.isUnderWay
            return isEnded || state.isOver ? .some(nil) : nil
        }
        return next ?? nil
    }
}

/// The progress of a request, each time that it has changed. A slow reader misses some.
public struct LoadingProgressUpdates: AsyncSequence, Sendable {
    private let downloads: LoadingTracker
    private let attempt: Int

    init(_ downloads: LoadingTracker) {
        self.downloads = downloads
        attempt = downloads.observedAttempt
    }

    public func makeAsyncIterator() -> Iterator { Iterator(downloads: downloads, attempt: attempt) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let downloads: LoadingTracker
        fileprivate let attempt: Int
        private var seen = 0

        fileprivate init(downloads: LoadingTracker, attempt: Int) {
            (self.downloads, self.attempt) = (downloads, attempt)
        }

        /// Nil when the access has begun or its downloads failed, when the request has ended, and when the task is cancelled.
        public mutating func next() async -> LoadingProgress? {
            guard let (progress, changes) = await downloads.next(after: seen, in: attempt) else { return nil }
            seen = changes
            return progress
        }
    }
}
