import SealedPack
import VaultSite

/// The packs of some tags that a device gets, among all that are listed.
struct TaggedPacks {
    /// In the order of publication.
    let packs: [PackManifest]
    /// Tags that no listed pack has.
    let unknownTags: Set<String>
    /// All tags of the listing.
    let listedTags: Set<String>

    init(_ tags: Set<String>, among listed: [RankedPack], for device: DeviceTraits?) {
        let variants = device.map {
            VariantChoice(among: listed.map { ($0.pack.id, $0.pack.offer) }, for: $0)
        }
        packs = listed.filter { listed in
            listed.pack.tags.contains(where: tags.contains) && variants?.takes(listed.pack.id) ?? true
        }.sorted().map(\.pack)
        listedTags = Set(listed.flatMap(\.pack.tags))
        unknownTags = tags.subtracting(listedTags)
    }
}
