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

    /// Throws `.usage` for a trait that the configuration's device states, that it did not state before, and that no listed pack has: it
    /// would choose nothing. Where a role can't be verified, or names are quiet and not known here, nothing is said.
    func requireKnownTraits(of device: DeviceTraits?, in listing: Listing) async throws(VaultError) {
        guard let device, !listing.chain.hasQuietNames || listing.names != nil else { return }
        let stated = StoredListingChoice(of: store).newTraits(of: device)
        guard !stated.isEmpty else { return }
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
    /// For a caller who names a device by hand: refreshes the metadata, and throws `.usage` for a trait that no listed pack has. Nothing is
    /// recorded. An app may state traits that its site does not use yet.
    ///
    /// - Parameter time: how long it may take; then `.busy` is thrown.
    package func requireKnownTraits(within time: Duration? = nil) async throws(VaultError) {
        guard let device = configuration.device, !device.names.isEmpty else { return }
        try await withTimeLimit(time, at: "device") { () throws(VaultError) in
            let listing = try await self.updateListing()
            try await self.access.requireKnownTraits(of: device, in: listing)
        }
    }
}

extension PackDownloader {
    /// See ``VaultClient/requireKnownTraits(within:)``.
    package func requireKnownTraits(within time: Duration? = nil) async throws(VaultError) {
        guard let device = configuration.device, !device.names.isEmpty else { return }
        try await withTimeLimit(time, at: "device") { () throws(VaultError) in
            let listing = try await access.refresh(now: .now)
            try await access.requireKnownTraits(of: device, in: listing)
        }
    }
}
