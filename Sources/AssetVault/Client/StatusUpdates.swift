import DequeModule
public import SealedPack
import Synchronization
public import VaultBase
public import VaultTransport

/// What happens to a pack, as it happens.
public enum StatusUpdate: Sendable, Equatable {
    /// A download is planned: reported for all of a plan before the first begins.
    case planned(PackID, PackPolicy, total: UInt64)
    /// A download begins, or resumes where an earlier one stopped.
    case began(PackID)
    /// Bytes that were just written, bytes of the download on the disk with them, and bytes in all; not reported for every
    /// byte. The first one says what an earlier attempt left: nothing was written for it.
    case progress(PackID, written: UInt64, bytes: UInt64, total: UInt64)
    /// The host does not support Range requests: it sends the whole pack, including the bytes that the store already has.
    case sentWhole(PackID, SiteLocation)
    /// Disk space for the pack is missing, in bytes. Purgeable packs are removed now; if that is not enough, the pack fails.
    case diskSpaceLow(PackID, missing: UInt64)
    /// Not downloaded: the network is metered, and nobody asked for this pack. A final update follows.
    case deferred(PackID)
    /// Bytes of a stored pack that were verified again, and bytes in all. Where several packs are to be verified, this is reported of all of
    /// them before the first one is read.
    case verifying(PackID, bytes: UInt64, total: UInt64)
    /// Bytes that were opened, and bytes in all.
    case opening(PackID, bytes: UInt64, total: UInt64)
    /// The pack moves to the next storage area on this disk.
    case transferring(PackID)
    /// None of the given keys opens the pack. A final update follows: it waits in shared storage, it was not downloaded
    /// (`.absent`), or an earlier version stays in use.
    case awaitingKey(PackID, VaultError)
    /// The pack stays out of use until another pack of its set is here, which failed, waits for its key or was not downloaded. A final
    /// update follows; an earlier version stays in use.
    case awaitingSet(PackID, missing: PackID)
    /// The work on the pack has ended without a failure, in this state: loaded, waiting for its key or its set, or absent (not downloaded, or
    /// purged).
    case finished(PackID, PackState)
    case failed(PackID, VaultError)

    public var id: PackID {
        switch self {
        case .planned(let id, _, _), .began(let id), .progress(let id, _, _, _), .sentWhole(let id, _),
            .diskSpaceLow(let id, _), .deferred(let id), .verifying(let id, _, _), .opening(let id, _, _),
            .transferring(let id), .awaitingKey(let id, _), .awaitingSet(let id, _),
            .finished(let id, _), .failed(let id, _):
            id
        }
    }

    /// This update, with the pack's ID replaced.
    func named(_ naming: (PackID) -> PackID, _ error: (VaultError) -> VaultError) -> StatusUpdate {
        let id = naming(self.id)
        return switch self {
        case .planned(_, let policy, let total): .planned(id, policy, total: total)
        case .began: .began(id)
        case .progress(_, let written, let bytes, let total):
            .progress(id, written: written, bytes: bytes, total: total)
        case .sentWhole(_, let file): .sentWhole(id, file)
        case .diskSpaceLow(_, let missing): .diskSpaceLow(id, missing: missing)
        case .deferred: .deferred(id)
        case .verifying(_, let bytes, let total): .verifying(id, bytes: bytes, total: total)
        case .opening(_, let bytes, let total): .opening(id, bytes: bytes, total: total)
        case .transferring: .transferring(id)
        case .awaitingKey(_, let missingKey): .awaitingKey(id, error(missingKey))
        case .awaitingSet(_, let missing): .awaitingSet(id, missing: naming(missing))
        case .finished(_, let state): .finished(id, state)
        case .failed(_, let failure): .failed(id, error(failure))
        }
    }

    /// Whether it is the final update of the pack.
    var isEnd: Bool {
        switch self {
        case .finished, .failed: true
        default: false
        }
    }

    /// The update that replaces this one and an earlier one of the same pack; nil where both are needed.
    func merged(with earlier: StatusUpdate) -> StatusUpdate? {
        switch (self, earlier) {
        case (.progress(let id, let more, let bytes, let total), .progress(_, let written, _, _)):
            return .progress(id, written: written.saturatingAdding(more), bytes: bytes, total: total)
        case (.opening, .opening), (.verifying, .verifying): return self
        default: return nil
        }
    }
}

/// Receives updates.
typealias Observer = @Sendable (StatusUpdate) -> Void

/// Updates since the sequence was made, for one reader: those of each pack in their order. A slow reader misses progress, and
/// superseded final updates with all before them.
public struct StatusUpdates: AsyncSequence, Sendable {
    private let subscription: Subscription

    init(_ broadcast: StatusBroadcast, of id: PackID?) {
        subscription = Subscription(of: id)
        broadcast.add(subscription)
    }

    /// Ends this sequence, after what was reported so far; the others continue.
    public func end() { subscription.end() }

    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let subscription: Subscription

        /// Nil when the sequence was ended, the client is gone, or the task is cancelled.
        public func next() async -> StatusUpdate? { await subscription.next() }
    }
}

/// Sends updates to all readers.
final class StatusBroadcast: Sendable {
    private struct Reader {
        weak var subscription: Subscription?
    }

    private let readers = Mutex<[Reader]>([])

    fileprivate func add(_ subscription: Subscription) {
        readers.withLock { readers in
            readers.removeAll { $0.subscription == nil }
            readers.append(Reader(subscription: subscription))
        }
    }

    func send(_ update: StatusUpdate) {
        for subscription in readers.withLock({ $0.compactMap(\.subscription) }) { subscription.take(update) }
    }

    func end() {
        for subscription in readers.withLock({ $0.compactMap(\.subscription) }) { subscription.end() }
    }

    deinit { end() }
}

/// What one reader has not read yet.
private final class Subscription: Sendable {
    private struct State {
        var unread = UnreadUpdates()
        var isEnded = false
    }

    private let id: PackID?
    private let state = AwaitableValue(State())

    init(of id: PackID?) { self.id = id }

    func take(_ update: StatusUpdate) {
        guard id.map({ $0 == update.id }) ?? true else { return }
        state.change { if !$0.isEnded { $0.unread.add(update) } }
    }

    func end() { state.change { $0.isEnded = true } }

    func next() async -> StatusUpdate? {
        let next: StatusUpdate?? = await state.wait { state in
            if let update = state.unread.next() { return update }
            return state.isEnded ? .some(nil) : nil
        }
        return next ?? nil
    }
}

/// Updates that a reader has not read yet. Those of one pack keep their order; superseded ones are dropped, so that a reader
/// that never reads costs a few updates a pack.
struct UnreadUpdates: Sendable {
    private var updates: [PackID: [StatusUpdate]] = [:]
    /// The packs with unread updates, each once.
    private var order = Deque<PackID>()

    mutating func add(_ update: StatusUpdate) {
        var own = updates[update.id] ?? []
        if own.isEmpty { order.append(update.id) }
        var update = update
        if let last = own.last, let merged = update.merged(with: last) {
            own.removeLast()
            update = merged
        }
        // A new final update supersedes the earlier one and all that led to it.
        if update.isEnd, let end = own.lastIndex(where: \.isEnd) { own.removeSubrange(...end) }
        own.append(update)
        updates[update.id] = own
    }

    /// The next one, of each pack in turn.
    mutating func next() -> StatusUpdate? {
        guard let id = order.popFirst(), var own = updates.removeValue(forKey: id) else { return nil }
        let first = own.removeFirst()
        if !own.isEmpty {
            updates[id] = own
            order.append(id)
        }
        return first
    }
}
