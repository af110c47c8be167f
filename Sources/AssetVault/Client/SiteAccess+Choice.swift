import SealedPack
import UpdateFramework
import VaultConcurrency
import VaultErrors
import VaultSite

/// Whether what a client asks for of a site can be right.
extension SiteAccess {
    /// The channels that list packs, besides the one that a listing follows.
    func channelsWithPacks(besides listing: Listing) async throws(VaultError) -> [Channel] {
        let lookup = lookup(in: listing)
        var found: [Channel] = []
        for channel in listing.siteChain.channels where channel != listing.choice.channel ?? .live {
            let tree = try await lookup.tree(of: listing.siteChain.following(channel))
            let ids = tree.records.lazy.compactMap { PackID(targetPath: $0.path)?.description }
            if ids.contains(where: { $0 != PackNames.packID }) { found.append(channel) }
        }
        return found
    }

    /// The traits that a device states and did not state before: only for these a site is asked.
    func newTraits(of device: DeviceTraits?) -> [String] {
        device.map { StoredListingChoice(of: store).newTraits(of: $0) } ?? []
    }

    /// Throws `.usage` for one of these traits that no listed pack has: it would choose nothing. Where a role can't be verified, or names are
    /// quiet and not known here, nothing is said.
    func requireKnown(_ stated: [String], in listing: Listing) async throws(VaultError) {
        guard listing.hasQuietNames == false || listing.names != nil else { return }
        let tree = try await lookup(in: listing).tree(of: listing.chain)
        guard tree.refusals.isEmpty else { return }
        var known: Set<String> = []
        for listed in PublishedPacks(of: tree.records, in: listing.chain).packs {
            for pack in [listed.pack] + listed.otherVersions {
                known.formUnion((listing.names?.completing(pack) ?? pack).offer.traits.keys)
            }
        }
        guard let name = stated.first(where: { !known.contains($0) }) else { return }
        throw VaultError(
            .usage, "no listed pack has the trait '\(name.excerpt)', which the device states", at: "device",
            remedy: "leave it out"
        ).suggesting(name, among: known.sorted())
    }
}

extension VaultClient {
    /// For a caller who names a device by hand: where it states a trait for the first time, refreshes the metadata, and throws `.usage` for one
    /// that no listed pack has. Nothing is recorded. An app may state traits that its site does not use yet.
    ///
    /// - Parameter time: how long it may take; then `.busy` is thrown.
    package func requireKnownTraits(within time: Duration? = nil) async throws(VaultError) {
        let stated = access.newTraits(of: configuration.device)
        guard !stated.isEmpty else { return }
        try await withTimeLimit(time, at: "device") { () throws(VaultError) in
            let listing = try await self.updateListing()
            try await self.access.requireKnown(stated, in: listing)
        }
    }
}

extension PackDownloader {
    /// See ``VaultClient/requireKnownTraits(within:)``.
    package func requireKnownTraits(within time: Duration? = nil) async throws(VaultError) {
        let stated = access.newTraits(of: configuration.device)
        guard !stated.isEmpty else { return }
        try await withTimeLimit(time, at: "device") { () throws(VaultError) in
            let listing = try await access.refresh(now: .now)
            try await access.requireKnown(stated, in: listing)
        }
    }
}
