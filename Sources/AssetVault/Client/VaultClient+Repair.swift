public import SealedPack
public import VaultErrors

extension VaultClient {
    /// Looks at every byte of the packs that are kept sealed, and fetches what is damaged again, piece by piece. Of a pack
    /// that the site lists in another version by now, that version is fetched instead. Opened trees are not looked at.
    ///
    /// - Parameter ids: the packs to look at; nil for all.
    /// - Returns: the packs that were damaged, and are sound again.
    /// - Throws: the first error, when all were tried; `.missing` for a pack of `ids` that is not loaded, and for one
    ///   that was kept sealed and is gone.
    @discardableResult
    public func repair(_ ids: [PackID]? = nil) async throws(VaultError) -> [PackID] {
        for id in ids ?? [] { try staging.records.requireKnown(id) }
        try await staging.recover()
        let listing = try await currentListing()
        let work = try staging.beginWork()
        let known = if let ids { ids } else { try staging.records.ids() }
        var mended: [PackID] = []
        var firstError: VaultError?
        for id in known {
            do throws(VaultError) {
                if try await repair(id, listedIn: listing) {
                    mended.append(id)
                } else if ids != nil, try await staging.survey(id).loaded == nil {
                    throw isGone(id)
                }
            } catch {
                observer(.failed(id, error))
                firstError = firstError ?? error
            }
        }
        _ = consume work
        if let firstError { throw firstError }
        return mended
    }

    /// Whether the pack was damaged; then it is sound again.
    private func repair(_ id: PackID, listedIn listing: SiteAccess.Listing) async throws(VaultError) -> Bool {
        let isDescribedAgain = try await staging.mendDescriptor(of: id)
        let record = try await staging.survey(id)
        if record.isLost { throw isGone(id) }
        guard let loaded = record.loaded, try await stager.isDamaged(loaded) else { return isDescribedAgain }
        let offer = try await access.offer(of: id, in: listing)
        guard offer.pack.sha256 == loaded.pack.sha256 else {
            // No wish: what is removed meanwhile stays away.
            let run = StagingRun(stager: stager, controls: controls, width: 1)
            for outcome in try await run.run([StagingTask(id: id, offer: offer)]) {
                _ = try outcome.result.get()
            }
            guard try await staging.survey(id).loaded?.pack.sha256 == offer.pack.sha256 else {
                throw VaultError(
                    .key, "version \(offer.pack.version) waits for its key; the damaged one stays until then",
                    at: id.description, remedy: "fetch it with its key")
            }
            return true
        }
        guard try await stager.repair(offer) else { return isDescribedAgain }
        observer(.finished(id, .loaded))
        return true
    }

    private func isGone(_ id: PackID) -> VaultError {
        VaultError(.missing, "no version of it is there", at: id.description, remedy: "fetch it")
    }
}

extension PackRecord {
    /// Whether it was here, should be kept sealed, and nothing of it is there or on its way.
    fileprivate var isLost: Bool {
        form == .sealed && listing != ListingVersion() && loaded == nil && waiting == nil && arriving == nil
            && !isRemoved
    }
}
