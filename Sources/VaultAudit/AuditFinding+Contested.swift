import SealedPack
import VaultErrors
import VaultSite

extension AuditFinding {
    /// Several listings claim one pack.
    init(contested listings: [PublishedPacks.Listing], at place: String) {
        let names = listings.map { "'\($0.pack.id)'" }.joined(separator: " and ")
        self.init(
            .error(.corrupt), "the site lists the packs \(names) with one content key", at: place,
            remedy: "find out who signed the one that is not the pack's, and publish without it")
    }
}
