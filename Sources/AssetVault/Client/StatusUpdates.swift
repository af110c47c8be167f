import SealedPack
import Synchronization

/// Updates from the moment at which the sequence was made, for one reader. A slow reader misses progress, and nothing else.
public struct StatusUpdates: AsyncSequence, Sendable {
    private let subscription: Subscription

    init(_ broadcast: StatusBroadcast, of id: PackID?) {
        subscription = Subscription(of: id)
        broadcast.add(subscription)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let subscription: Subscription

        /// Nil when the client is gone, or the task is cancelled.
        public func next() async -> StatusUpdate? { await subscription.next() }

        public func next(isolation actor: isolated (any Actor)?) async -> StatusUpdate? {
            await subscription.next()
        }
    }
}

/// Hands updates on to all who read them.
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

    func tell(_ update: StatusUpdate) {
        for subscription in readers.withLock({ $0.compactMap(\.subscription) }) { subscription.take(update) }
    }

    func end() {
        for subscription in readers.withLock({ $0.compactMap(\.subscription) }) { subscription.end() }
    }

    deinit { end() }
}

/// What one reader has not read yet.
private final class Subscription: Sendable {
    private enum Unread {
        case update(StatusUpdate)
        case end
    }

    private let id: PackID?
    private let unread = Awaited<[Unread]>([])

    init(of id: PackID?) { self.id = id }

    func take(_ update: StatusUpdate) {
        guard id.map({ $0 == update.id }) ?? true else { return }
        unread.change { unread in
            // Progress replaces the progress before it, so that the queue stays short.
            let previous = unread.lastIndex { unread in
                guard case .update(let earlier) = unread else { return false }
                return earlier.id == update.id
            }
            if let previous, case .update(let earlier) = unread[previous], update.supersedes(earlier) {
                unread[previous] = .update(update)
            } else {
                unread.append(.update(update))
            }
        }
    }

    func end() { unread.change { $0.append(.end) } }

    func next() async -> StatusUpdate? {
        let next: Unread? = await unread.wait { unread in
            // The end stays, for whoever asks again.
            guard let first = unread.first else { return nil }
            if case .update = first { unread.removeFirst() }
            return first
        }
        guard case .update(let update) = next else { return nil }
        return update
    }
}
