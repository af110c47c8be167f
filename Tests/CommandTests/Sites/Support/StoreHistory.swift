import Synchronization

/// What several processes did with one store, and when: each operation took effect between its start and its end.
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
        /// The versions that were seen; 0 for none that is ready for use.
        var versions: [String: Int] = [:]
        /// What is wrong with the event by itself.
        var complaint: String?
        var errorText = ""

        /// Whether the store is known to have had a pack before another event began.
        func shows(_ pack: String, before event: Event) -> Bool {
            guard end < event.start else { return false }
            let isFetched =
                exitCode == 0
                && [.fetch(id: pack, withKeys: true), .fetch(id: pack, withKeys: false)].contains(operation)
            return isFetched || versions[pack, default: 0] > 0
        }

        func overlaps(_ from: ContinuousClock.Instant, _ to: ContinuousClock.Instant) -> Bool {
            start <= to && end >= from
        }
    }

    private let noted = Mutex<[Event]>([])
    var events: [Event] { noted.withLock { $0 } }

    func note(_ event: Event) { noted.withLock { $0.append(event) } }

    /// All contradictions in the history.
    var contradictions: [String] {
        let events = events.sorted { $0.end < $1.end }
        return events.compactMap(\.complaint) + events.compactMap { wrongEnd(of: $0, events) }
            + goingBack(events)
            + broken(promises: events) + comingBack(events)
    }

    /// An operation fails only because of another one.
    private func wrongEnd(of event: Event, _ events: [Event]) -> String? {
        let allowed: Set<Int32> =
            switch event.operation {
            // What is removed meanwhile is not there to be fetched.
            case .fetch, .unlock, .downloader: [0, 75, 66]
            case .remove(let id): events.contains { $0.shows(id, before: event) } ? [0, 75] : [0, 75, 66]
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

    /// What was seen of each pack, and its removals.
    private func stories(_ events: [Event]) -> [(id: String, sights: [Sight], removals: [Event])] {
        let sights = events.flatMap { event in
            event.versions.map { Sight(id: $0.key, version: $0.value, event: event) }
        }
        return Dictionary(grouping: sights, by: \.id).map { id, sights in
            (id, sights, events.filter { $0.operation == .remove(id) })
        }
    }

    /// A later look sees the same or a newer version, except after a removal, and none before its publication.
    private func goingBack(_ events: [Event]) -> [String] {
        var found: [String] = []
        for (id, sights, removals) in stories(events) {
            for (number, later) in sights.enumerated() {
                if later.version > later.event.published.upperBound {
                    found.append("\(id) \(later.version) was seen before it was published")
                }
                let earlier = sights[..<number].first { earlier in
                    earlier.version > later.version && earlier.event.end < later.event.start
                        && !removals.contains { $0.overlaps(earlier.event.start, later.event.end) }
                }
                if let earlier {
                    found.append(
                        "\(id) went from \(earlier.version), \(earlier.event), back to \(later.version), \(later.event)"
                    )
                }
            }
        }
        return found
    }

    /// A successful fetch with a key leaves nothing older than what was published when it began.
    private func broken(promises events: [Event]) -> [String] {
        var found: [String] = []
        for (id, sights, removals) in stories(events) {
            for event in events
            where event.exitCode == 0 && event.operation == .fetch(id: id, withKeys: true) {
                let older = sights.first { sight in
                    sight.version < event.published.lowerBound && sight.event.start > event.end
                        && !removals.contains { $0.overlaps(event.start, sight.event.end) }
                }
                if let older { found.append("\(event) left \(id) at \(older.version), \(older.event)") }
            }
        }
        return found
    }

    /// A removed pack stays removed until it is requested.
    private func comingBack(_ events: [Event]) -> [String] {
        var found: [String] = []
        for (id, sights, removals) in stories(events) {
            let asking = events.filter {
                if case .fetch(id, _) = $0.operation { true } else { false }
            }
            for removal in removals where removal.exitCode == 0 {
                let back = sights.first { sight in
                    sight.version > 0 && sight.event.start > removal.end
                        && !asking.contains { $0.overlaps(removal.start, sight.event.end) }
                }
                if let back { found.append("\(id) came back by itself after \(removal), \(back.event)") }
            }
        }
        return found
    }
}
