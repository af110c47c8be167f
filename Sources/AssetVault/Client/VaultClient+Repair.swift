public import SealedPack
public import VaultErrors

extension VaultClient {
    /// Looks at every byte of the packs that are kept sealed, and fetches what is damaged again, piece by piece. Of a pack
    /// that the site lists in another version by now, that version is fetched instead. Opened trees are not looked at.
    ///
    /// - Parameter ids: the packs to look at; nil for all.
    /// - Returns: the packs that were damaged, and are sound again.
    @discardableResult
    public func repair(_ ids: [PackID]? = nil) async throws(VaultError) -> [PackID] {
        try await staging.recover()
        let listing = try await currentListing()
        let work = try staging.beginWork()
        var mended: [PackID] = []
        for (id, record) in try await staging.survey() where ids?.contains(id) ?? true {
            guard let loaded = record.loaded, try await stager.isDamaged(loaded) else { continue }
            let offer = try await access.offer(of: id, in: listing)
            if offer.pack.sha256 == loaded.pack.sha256 {
                try await stager.repair(offer)
                observer(.finished(id, .loaded))
            } else {
                try await stage(.only([id]))
            }
            mended.append(id)
        }
        _ = consume work
        return mended
    }
}
