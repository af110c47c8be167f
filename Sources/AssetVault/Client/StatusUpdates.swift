import SealedPack
import Synchronization
import VaultConcurrency

/// Updates since the sequence was made, for one reader: those of each pack in their order. A slow reader misses progress and
/// superseded final updates.
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
