import Synchronization

/// What several processes did with one store, and when: an operation took place somewhere between its start and its end.
final class StoreHistory: Sendable {
    enum Operation: Sendable, Hashable {
        /// All packs that come by themselves, or one that is asked for.
        case fetch(id: String?, withKeys: Bool)
        case downloader
        case unlock
        case remove(String)
        case status
        case path(String)
        /// A whole tree was read through `current`.
        case read(String)
    }

    struct Event: Sendable {
        let operation: Operation
        let start: ContinuousClock.Instant
        let end: ContinuousClock.Instant
        let exitCode: Int32
        /// The version that was live when it began, and when it ended.
        let published: ClosedRange<Int>
        /// What was seen of packs; 0 stands for none that is ready for use.
        var versions: [String: Int] = [:]
        /// What is wrong with it by itself.
        var complaint: String?
        var errorText = ""

        func overlaps(_ from: ContinuousClock.Instant, _ to: ContinuousClock.Instant) -> Bool {
            start <= to && end >= from
        }
    }

    private let noted = Mutex<[Event]>([])
    var events: [Event] { noted.withLock { $0 } }

    func note(_ event: Event) { noted.withLock { $0.append(event) } }

    /// Everything in it that can't be.
    var contradictions: [String] {
        let events = events.sorted { $0.end < $1.end }
        return events.compactMap(\.complaint) + events.compactMap(wrongEnd) + goingBack(events)
            + broken(promises: events) + comingBack(events)
    }

    /// Nothing fails but for somebody else's sake.
    private func wrongEnd(of event: Event) -> String? {
        let allowed: Set<Int32> =
            switch event.operation {
            // What is removed meanwhile is not there to be fetched.
            case .fetch, .unlock, .downloader: [0, 75, 66]
            case .remove: [0, 75]
            case .path: [0, 66]
            case .status, .read: [0]
            }
        return allowed.contains(event.exitCode)
            ? nil : "\(event.operation) ended with \(event.exitCode): \(event.errorText)"
    }

    private struct Sight {
        let id: String
        let version: Int
        let event: Event
    }

    private func sights(_ events: [Event]) -> [Sight] {
        events.flatMap { event in
            event.versions.map { Sight(id: $0.key, version: $0.value, event: event) }
        }
    }

    private func isRemoved(
        _ id: String, from: ContinuousClock.Instant, to: ContinuousClock.Instant, _ events: [Event]
    ) -> Bool {
        events.contains { $0.operation == .remove(id) && $0.overlaps(from, to) }
    }

    /// Whoever looks after somebody else has looked sees the same or something newer, but for a removal; and nothing that
    /// was not published yet.
    private func goingBack(_ events: [Event]) -> [String] {
        let sights = sights(events)
        var found: [String] = []
        for (number, later) in sights.enumerated() {
            if later.version > later.event.published.upperBound {
                found.append("\(later.id) \(later.version) was seen before it was published")
            }
            for earlier in sights[..<number]
            where earlier.id == later.id && earlier.event.end < later.event.start
                && earlier.version > later.version
                && !isRemoved(later.id, from: earlier.event.start, to: later.event.end, events)
            {
                found.append(
                    "\(later.id) went from \(earlier.version) back to \(later.version), \(later.event)")
            }
        }
        return found
    }

    /// Who asked for a pack with its key, and got it, left nothing older than what was published when it began.
    private func broken(promises events: [Event]) -> [String] {
        var found: [String] = []
        for event in events where event.exitCode == 0 {
            guard case .fetch(let id?, withKeys: true) = event.operation else { continue }
            for sight in sights(events)
            where sight.id == id && sight.event.start > event.end
                && sight.version < event.published.lowerBound
                && !isRemoved(id, from: event.start, to: sight.event.end, events)
            {
                found.append("\(event) left \(id) at \(sight.version), \(sight.event)")
            }
        }
        return found
    }

    /// What was removed stays away until it is asked for.
    private func comingBack(_ events: [Event]) -> [String] {
        var found: [String] = []
        for removal in events where removal.exitCode == 0 {
            guard case .remove(let id) = removal.operation else { continue }
            for sight in sights(events)
            where sight.id == id && sight.event.start > removal.end && sight.version > 0 {
                let isAsked = events.contains {
                    guard case .fetch(id?, _) = $0.operation else { return false }
                    return $0.overlaps(removal.start, sight.event.end)
                }
                if !isAsked { found.append("\(id) came back by itself after \(removal), \(sight.event)") }
            }
        }
        return found
    }
}
