import PackSources
import SealedPack
import VaultErrors
import VaultKeys
import VaultSite

/// What a channel listed before, for the keys of today.
struct RestoredListing {
    let listing: OwnListing
    let snapshot: PublishedSnapshot
    private(set) var warnings: [Finding] = []

    /// - Throws: `missing`, `notHosted` or `corrupt` for a pack whose file is not there any more.
    init(
        _ earlier: OwnListing, under snapshot: PublishedSnapshot, in session: AuthorSession,
        keys: any KeyProvider
    ) async throws(VaultError) {
        self.snapshot = snapshot
        let settings = session.settings
        let publisher = try await PackPublisher(listingIn: session, keys: keys)
        let keys = publisher.keys
        let channels = [settings.structure.sourceChannel] + settings.structure.channels.dropFirst()
        let present = channels.flatMap { session.published.ownListing(in: $0).packs }
            .flatMap { [$0.pack] + $0.otherVersions }
        let recipients = ChannelResealing.Recipients(of: present, declaredBy: settings)
        let current = keys.holders(of: present.flatMap(\.slots))
        var records = earlier.foreign
        var opened: [SlotHolder: [String]] = [:]
        for version in earlier.packs.flatMap({ [$0.pack] + $0.otherVersions }) {
            try await publisher.files.require(version)
        }
        for (_, versions) in try await ChannelResealing.resealed(
            earlier.packs, for: recipients, by: publisher)
        {
            for version in versions {
                for key in keys.holders(of: version.slots).subtracting(current) {
                    opened[key, default: []].append("'\(version.id)' version \(version.version)")
                }
            }
            guard let first = versions.first else { continue }
            records.append(try ListedPack(first, otherVersions: Array(versions.dropFirst())).target)
        }
        listing = OwnListing(of: records)
        for (key, packs) in opened.sorted(by: { $0.key.text < $1.key.text }) {
            warnings.append(
                .warning(
                    "key-opens-again",
                    "the vault key \(key.text), which nothing that is listed now is sealed for, opens \(packs.listed(upTo: 6)) again",
                    at: "keys", remedy: "give a key that opens these, to seal them for others"))
        }
    }
}
