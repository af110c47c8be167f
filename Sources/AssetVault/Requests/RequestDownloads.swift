public import SealedPack
import VaultBytes
import VaultConcurrency

/// How far the downloads of a request are.
public struct ResourceProgress: Sendable, Hashable {
    /// One pack of a request.
    public struct Part: Sendable, Hashable {
        /// Downloaded bytes, also those that were there before.
        public internal(set) var bytes: UInt64 = 0
        public let total: UInt64
    }

    /// The packs that were missing.
    public internal(set) var packs: [PackID: Part] = [:]

    /// Bytes that were downloaded.
    public var bytes: UInt64 { packs.values.saturatingSum(\.bytes) }

    /// Bytes in all.
    public var total: UInt64 { packs.values.saturatingSum(\.total) }

    /// From 0 to 1; 1 where nothing is missing.
    public var fraction: Double { total == 0 ? 1 : Double(bytes) / Double(total) }

    mutating func note(_ update: StatusUpdate) {
        guard let part = packs[update.id] else { return }
        switch update {
        case .progress(let id, _, let bytes, _): packs[id]?.bytes = min(bytes, part.total)
        case .opening(let id, _, _), .transferring(let id), .finished(let id, .loaded):
            packs[id]?.bytes = part.total
        case .planned, .began, .sentWhole, .diskSpaceLow, .deferred, .verifying, .awaitingKey, .finished,
            .failed:
            break
        }
    }
}

/// The downloads of one request, as its client reports them: of one attempt to begin the access after the other.
final class RequestDownloads: Sendable {
    private struct State {
        var progress = ResourceProgress()
        /// Of the progress in this attempt: 0 before it is known what is missing.
        var changes = 0
        /// How many have begun.
        var attempts = 0
        var isUnderWay = false
        /// Whether no other attempt can follow: the access has begun, or ended.
        var isOver = false

        mutating func begin() {
            progress = ResourceProgress()
            changes = 0
            attempts += 1
            isUnderWay = true
        }
    }

    private let state = AwaitableValue(State())

    var progress: ResourceProgress { state.value.progress }

    /// An attempt that may download begins.
    func begin() { state.change { $0.begin() } }

    /// The packs that are missing.
    func plan(_ packs: [PackManifest]) {
        state.change { state in
            state.progress.packs = Dictionary(packs.map { ($0.id, .init(total: $0.length)) }) { $1 }
            state.changes += 1
        }
    }

    func note(_ update: StatusUpdate) {
        state.change { state in
            let before = state.progress
            state.progress.note(update)
            if state.progress != before { state.changes += 1 }
        }
    }

    /// The attempt brought no access; another one may follow.
    func fail() { state.change { $0.isUnderWay = false } }

    /// The access has begun: nothing is missing. Where no attempt is under way it began without downloads, and ends the next one.
    func succeed() {
        state.change { state in
            if !state.isUnderWay { state.begin() }
            let before = state.progress
            for (id, part) in before.packs { state.progress.packs[id]?.bytes = part.total }
            if state.progress != before || state.changes == 0 { state.changes += 1 }
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
    fileprivate func next(after seen: Int, in attempt: Int) async -> (ResourceProgress, Int)? {
        let next: (ResourceProgress, Int)?? = await state.wait { state in
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
public struct ResourceProgressUpdates: AsyncSequence, Sendable {
    private let downloads: RequestDownloads
    private let attempt: Int

    init(_ downloads: RequestDownloads) {
        self.downloads = downloads
        attempt = downloads.observedAttempt
    }

    public func makeAsyncIterator() -> Iterator { Iterator(downloads: downloads, attempt: attempt) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let downloads: RequestDownloads
        fileprivate let attempt: Int
        private var seen = 0

        fileprivate init(downloads: RequestDownloads, attempt: Int) {
            (self.downloads, self.attempt) = (downloads, attempt)
        }

        /// Nil when the access has begun or its downloads failed, when the request has ended, and when the task is cancelled.
        public mutating func next() async -> ResourceProgress? {
            guard let (progress, changes) = await downloads.next(after: seen, in: attempt) else { return nil }
            seen = changes
            return progress
        }
    }
}
