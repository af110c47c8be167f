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

    init(_ tags: Set<String>, among listed: [PackManifest], for device: DeviceTraits?) {
        let variants = device.map { VariantChoice(among: listed.map { ($0.id, $0.offer) }, for: $0) }
        packs = listed.filter { pack in
            pack.tags.contains(where: tags.contains) && variants?.takes(pack.id) ?? true
        }.sorted { ($0.offer.order, $0.id) < ($1.offer.order, $1.id) }
        listedTags = Set(listed.flatMap(\.tags))
        unknownTags = tags.subtracting(listedTags)
    }
}
