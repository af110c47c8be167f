public import SealedPack
import Synchronization
import VaultConcurrency

/// How far the downloads of a request are.
public struct ResourceProgress: Sendable, Hashable {
    /// One pack of a request.
    public struct Part: Sendable, Hashable {
        /// Downloaded bytes, also those that were there before.
        public fileprivate(set) var bytes: UInt64 = 0
        public let total: UInt64
    }

    /// The packs that were missing.
    public fileprivate(set) var packs: [PackID: Part] = [:]

    /// Bytes that were downloaded.
    public var bytes: UInt64 { packs.values.reduce(0) { $0 + min($1.bytes, .max - $0) } }

    /// Bytes in all.
    public var total: UInt64 { packs.values.reduce(0) { $0 + min($1.total, .max - $0) } }

    /// From 0 to 1; 1 where nothing is missing.
    public var fraction: Double { total == 0 ? 1 : Double(bytes) / Double(total) }

    fileprivate mutating func note(_ update: StatusUpdate) {
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

/// The downloads of one request, as its client reports them.
final class RequestDownloads: Sendable {
    private struct State {
        var progress = ResourceProgress()
        var changes = 0
        var isEnded = false
    }

    private let state = AwaitableValue(State())

    var progress: ResourceProgress { state.value.progress }

    /// The packs that are missing.
    func begin(_ packs: [PackManifest]) {
        state.change { state in
            state.progress.packs = Dictionary(packs.map { ($0.id, .init(total: $0.length)) }) { $1 }
            state.isEnded = false
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

    func end() { state.change { $0.isEnded = true } }

    /// The progress after a number of changes, with the number that it was reached by; nil at the end.
    fileprivate func next(after seen: Int) async -> (ResourceProgress, Int)? {
        let next: (ResourceProgress, Int)?? = await state.wait { state in
            if state.changes > seen { return .some((state.progress, state.changes)) }
            return state.isEnded ? .some(nil) : nil
        }
        return next ?? nil
    }
}

/// The progress of a request, each time that it has changed. A slow reader misses some.
public struct ResourceProgressUpdates: AsyncSequence, Sendable {
    private let downloads: RequestDownloads

    init(_ downloads: RequestDownloads) { self.downloads = downloads }

    public func makeAsyncIterator() -> Iterator { Iterator(downloads: downloads) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let downloads: RequestDownloads
        private var seen = 0

        fileprivate init(downloads: RequestDownloads) { self.downloads = downloads }

        /// Nil when the access has begun or failed, and when the task is cancelled.
        public mutating func next() async -> ResourceProgress? {
            guard let (progress, changes) = await downloads.next(after: seen) else { return nil }
            seen = changes
            return progress
        }
    }
}
