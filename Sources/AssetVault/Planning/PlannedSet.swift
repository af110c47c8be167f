import SealedPack

/// Packs that become live together or not at all. Packs that share a tag belong to one set, and so do those that are connected by a
/// chain of shared tags; they form a set only if one of them replaces a version that is here. On request a set has all packs of a
/// selection.
struct PlannedSet: Sendable {
    /// Those that come now.
    private(set) var packs: [PackManifest] = []
    /// Those that do not come now: without them none becomes live.
    private(set) var missing: [PackManifest] = []

    /// What one pack is to become.
    struct Change {
        let pack: PackManifest
        /// Whether another version of it is loaded.
        let isUpdate: Bool
        /// Whether this run downloads or transfers it.
        var comesNow: Bool
    }

    /// The sets of some changes. A pack that would be alone in its set is in none.
    ///
    /// - Parameter areTogether: whether all of them are one set.
    static func sets(of changes: [Change], areTogether: Bool) -> [PlannedSet] {
        var groups = Groups(count: changes.count)
        var firstIndex: [String: Int] = [:]
        for (index, change) in changes.enumerated() {
            if areTogether { groups.join(index, 0) }
            for tag in change.pack.tags {
                if let other = firstIndex[tag] { groups.join(index, other) } else { firstIndex[tag] = index }
            }
        }
        var sets: [Int: (set: PlannedSet, isUpdate: Bool)] = [:]
        var order: [Int] = []
        for (index, change) in changes.enumerated() {
            let group = groups.first(with: index)
            if sets[group] == nil { order.append(group) }
            var found = sets[group] ?? (PlannedSet(), areTogether)
            if change.comesNow {
                found.set.packs.append(change.pack)
            } else {
                found.set.missing.append(change.pack)
            }
            if change.isUpdate { found.isUpdate = true }
            sets[group] = found
        }
        return order.compactMap { sets[$0] }.filter(\.isUpdate).map(\.set).filter { set in
            !set.packs.isEmpty && set.packs.count + set.missing.count > 1
        }
    }

    /// Groups of numbers, each known by one of them.
    private struct Groups {
        private var parents: [Int]

        init(count: Int) { parents = Array(0..<count) }

        mutating func first(with number: Int) -> Int {
            var number = number
            while parents[number] != number {
                parents[number] = parents[parents[number]]
                number = parents[number]
            }
            return number
        }

        mutating func join(_ one: Int, _ other: Int) {
            let (one, other) = (first(with: one), first(with: other))
            parents[max(one, other)] = min(one, other)
        }
    }
}
