import SealedPack
import Synchronization
import VaultCrypto

/// The sets of a run. A pack of a set is downloaded and installed like any other, and then waits, ready, until all of its set is; the
/// installer makes them live in one step.
final class PackSets: Sendable {
    /// How the work on a pack ended.
    enum WorkEnd {
        case ready
        /// Nothing is to be activated: another process did that, the app removed the pack, or its key was never here.
        case omitted
        case missing
    }

    /// What is to be done once the work on all packs of a set has ended.
    enum Decision {
        case activate([PackManifest])
        /// They stay ready: one of them is missing.
        case wait([PackManifest], missing: PackID)
    }

    private struct Group {
        let packs: [PackManifest]
        var pending: Set<PackID>
        var ready: Set<PackID> = []
        /// The first one that is missing.
        var missing: PackID?
    }

    private let groups: Mutex<[Group]>
    private let places: [PackID: (place: Int, digest: SHA256Digest)]

    init(_ sets: [PlannedSet] = []) {
        var places: [PackID: (place: Int, digest: SHA256Digest)] = [:]
        for (place, set) in sets.enumerated() {
            for pack in set.packs { places[pack.id] = (place, pack.sha256) }
        }
        self.places = places
        groups = Mutex(
            sets.map { set in
                Group(packs: set.packs, pending: Set(set.packs.map(\.id)), missing: set.missing.first?.id)
            })
    }

    /// Whether just this version becomes live with others.
    func contains(_ pack: PackManifest) -> Bool { places[pack.id]?.digest == pack.sha256 }

    /// The number of packs in the set of a pack; nil for a pack that becomes live by itself.
    func count(with id: PackID) -> Int? {
        guard let place = places[id]?.place else { return nil }
        return groups.withLock { $0[place].packs.count }
    }

    /// Notes how the work on a pack ended. Returns what is to be done, if it was the last one of its set.
    func end(_ id: PackID, as end: WorkEnd) -> Decision? {
        guard let place = places[id]?.place else { return nil }
        return groups.withLock { groups in
            guard groups[place].pending.remove(id) != nil else { return nil }
            switch end {
            case .ready: groups[place].ready.insert(id)
            case .omitted: break
            case .missing: groups[place].missing = groups[place].missing ?? id
            }
            let group = groups[place]
            guard group.pending.isEmpty else { return nil }
            let ready = group.packs.filter { group.ready.contains($0.id) }
            guard let missing = group.missing else { return .activate(ready) }
            return .wait(ready, missing: missing)
        }
    }
}
