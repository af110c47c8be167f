import SealedPack
import VaultBase
import VaultCrypto

/// The packs that dropped vault keys, and keys that no source is sealed for, still open.
struct DroppedKeys {
    /// Dropped by this publication, with the packs that are no longer sealed for them.
    private let dropped: [SlotHolder: Set<PackID>]
    private let inUse: Set<KeyID>
    /// The listed packs that each of them still opens: names with their places, and IDs.
    private var open: [SlotHolder: [(id: PackID, text: String)]] = [:]

    /// - Parameter inUse: the keys that the settings seal packs for.
    init(_ dropped: [SlotHolder: Set<PackID>], inUse: Set<KeyID>) {
        (self.dropped, self.inUse) = (dropped, inUse)
    }

    /// Notes a listed pack. A key in use is expected to open it, unless this publication dropped that key from the pack.
    ///
    /// - Parameter holders: of the slots of the pack.
    mutating func note(
        _ pack: PackManifest, for holders: Set<SlotHolder>, as name: PackID?, _ place: String
    ) {
        for key in holders
        where key.isReplaced || !inUse.contains(key.id) || dropped[key]?.contains(pack.id) ?? false {
            open[key, default: []].append((pack.id, "'\(name ?? pack.id)' version \(pack.version) \(place)"))
        }
    }

    /// Whether a version of the pack is still listed for the key somewhere.
    func stillOpens(_ key: SlotHolder, _ id: PackID) -> Bool { open[key]?.contains { $0.id == id } ?? false }

    var warnings: [Finding] {
        var warnings = open.sorted { $0.key.text < $1.key.text }.map { key, open in
            Finding.warning(
                "dropped-key-opens",
                "the vault key \(key.text) still opens what is listed: \(open.map(\.text).listed(upTo: 6))",
                at: "keys",
                remedy:
                    "give a key that opens these, promote other versions, or let the team seal them for others"
            )
        }
        if !dropped.isEmpty {
            let names = dropped.keys.map(\.text).sorted().listed(upTo: 4)
            warnings.append(
                .warning(
                    "dropped-keys",
                    "holders of \(names) still read what was published before, and later versions of packs, which keep their content keys",
                    at: "keys",
                    remedy:
                        "under a new ID a pack gets a new one. Earlier metadata with the old slots stay at the host until their"
                        + " snapshots have expired and all but the last version of each pack are pruned; those that list a pack which"
                        + " is no longer listed stay longer",
                    hint: .pruningToLastVersions))
        }
        return warnings
    }
}
