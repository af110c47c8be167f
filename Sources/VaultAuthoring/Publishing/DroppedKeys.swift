import SealedPack
import VaultErrors

/// What vault keys still open that a publication drops, and those that no source is sealed for.
struct DroppedKeys {
    /// Dropped by this publication.
    private let dropped: Set<SlotHolder>
    private let keys: Set<SlotHolder>
    /// The listed packs that each of them still opens: names with their places, and IDs.
    private var open: [SlotHolder: [(id: PackID, text: String)]] = [:]

    /// - Parameters:
    ///   - dropped: those that some pack is no longer sealed for.
    ///   - others: those that packs in no source, or that no key here opens, are still sealed for.
    init(_ dropped: Set<SlotHolder>, and others: Set<SlotHolder>) {
        (self.dropped, keys) = (dropped, dropped.union(others))
    }

    /// - Parameter holders: of the slots of the pack.
    mutating func note(
        _ pack: PackManifest, for holders: Set<SlotHolder>, as name: PackID?, _ place: String
    ) {
        for key in holders.intersection(keys) {
            open[key, default: []].append((pack.id, "'\(name ?? pack.id)' version \(pack.version) \(place)"))
        }
    }

    /// Whether a version of the pack is still listed for the key somewhere.
    func stillOpens(_ key: SlotHolder, _ id: PackID) -> Bool { open[key]?.contains { $0.id == id } ?? false }

    var warnings: [Warning] {
        let sorted = keys.sorted { $0.text < $1.text }
        var warnings = sorted.compactMap { key -> Warning? in
            guard let open = open[key] else { return nil }
            return Warning(
                "the vault key \(key.text) still opens what is listed: \(open.map(\.text).listed(upTo: 6)); give a key that opens these,"
                    + " promote other versions, or let the team seal them for others")
        }
        if !dropped.isEmpty {
            let names = sorted.filter(dropped.contains).map(\.text).listed(upTo: 4)
            warnings.append(
                Warning(
                    "holders of \(names) still read what was published before, and later versions of packs, which keep their content"
                        + " keys; under a new ID a pack gets a new one. Earlier metadata with the old slots stay at the host until their"
                        + " snapshots have expired and all but the last version of each pack are pruned; those that list a pack which"
                        + " is listed no more stay longer",
                    hint: .pruningToLastVersions))
        }
        return warnings
    }
}
