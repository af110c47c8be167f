import SealedPack
import VaultErrors
import VaultSite

/// The packs of some tags that a device gets, among all that are listed.
struct TaggedPacks {
    /// In the order of publication.
    let packs: [PackManifest]
    /// Tags that no listed pack has.
    let unknownTags: Set<String>
    /// All tags of the listing.
    let listedTags: Set<String>

    /// Throws `.cancelled`.
    init(_ tags: Set<String>, among listed: [RankedPack], for device: DeviceTraits?) throws(VaultError) {
        let variants = try device.map { device throws(VaultError) in
            try VariantChoice(
                among: listed.map { VariantChoice.Candidate($0.pack, rank: $0.rank) }, for: device)
        }
        packs = listed.filter { listed in
            listed.pack.tags.contains(where: tags.contains) && variants?.takes(listed.pack.id) ?? true
        }.sorted().map(\.pack)
        listedTags = Set(listed.flatMap(\.pack.tags))
        unknownTags = tags.subtracting(listedTags)
    }
}
