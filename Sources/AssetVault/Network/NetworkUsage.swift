public import SealedPack
public import VaultErrors

/// What a store received over the network, without the headers of HTTP: by day, for about three months, and by pack.
public struct NetworkUsage: Sendable, Hashable {
    /// Bytes that were received.
    public struct Bytes: Sendable, Hashable {
        public fileprivate(set) var metered: UInt64 = 0
        public fileprivate(set) var unmetered: UInt64 = 0
        public var all: UInt64 { metered + min(unmetered, .max - metered) }

        fileprivate static func + (left: Self, right: Self) -> Self {
            Self(
                metered: left.metered + min(right.metered, .max - left.metered),
                unmetered: left.unmetered + min(right.unmetered, .max - left.unmetered))
        }
    }

    /// By dates such as `2026-11-24`, in UTC.
    public fileprivate(set) var days: [String: Bytes] = [:]
    public fileprivate(set) var packs: [PackID: Bytes] = [:]
    public fileprivate(set) var metadata = Bytes()
}

extension VaultStore {
    /// What apps and downloaders received for this store.
    public func networkUsage() async throws(VaultError) -> NetworkUsage {
        var usage = NetworkUsage()
        for role in StoreRole.allCases {
            let log = TrafficLog(of: StoreAccess(layout: layout, role: role))
            var reading = TrafficReading(log)
            // The newest days first: the budget may not suffice for all.
            for day in ((try? log.days()) ?? []).reversed() {
                reading.forEachEntry(on: day) { usage.add($0, on: day) }
            }
        }
        usage.packs = Dictionary(usage.packs.map { (shownID(of: $0), $1) }, uniquingKeysWith: +)
        return usage
    }
}

extension NetworkUsage {
    fileprivate mutating func add(_ entry: TrafficLog.Entry, on day: String) {
        let bytes =
            entry.isMetered ? Bytes(metered: entry.bytes) : Bytes(unmetered: entry.bytes)
        days[day] = days[day, default: Bytes()] + bytes
        if let pack = entry.pack {
            packs[pack] = packs[pack, default: Bytes()] + bytes
        } else {
            metadata = metadata + bytes
        }
    }
}
