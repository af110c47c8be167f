public import SealedPack
public import VaultErrors

/// What a store received over the network, without the headers of HTTP: by day, for about three months, and by pack.
public struct NetworkUsage: Sendable, Hashable {
    /// Bytes that were received.
    public struct Bytes: Sendable, Hashable {
        public fileprivate(set) var metered: UInt64 = 0
        public fileprivate(set) var unmetered: UInt64 = 0
        public var all: UInt64 { metered + min(unmetered, .max - metered) }

        fileprivate mutating func add(_ entry: TrafficLog.Entry) {
            if entry.isMetered {
                metered += min(entry.bytes, .max - metered)
            } else {
                unmetered += min(entry.bytes, .max - unmetered)
            }
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
            var budget = role == .app ? .unlimited : TrafficLog.sharedBudget
            // The newest days first: the budget may not suffice for all.
            for day in ((try? log.days()) ?? []).reversed() {
                log.forEachEntry(on: day, within: &budget) { entry in
                    usage.add(entry, of: entry.pack.map(shownID), on: day, by: role)
                }
            }
        }
        return usage
    }
}

extension NetworkUsage {
    /// Number of packs that a downloader's log may add: of forged ones there could be any number.
    private static let packLimit = 1 << 15

    fileprivate mutating func add(
        _ entry: TrafficLog.Entry, of pack: PackID?, on day: String, by role: StoreRole
    ) {
        days[day, default: Bytes()].add(entry)
        guard let pack else { return metadata.add(entry) }
        guard role == .app || packs[pack] != nil || packs.count < Self.packLimit else { return }
        packs[pack, default: Bytes()].add(entry)
    }
}
