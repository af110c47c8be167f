import DequeModule
import SealedPack

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
        // Drop superseded final updates.
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
