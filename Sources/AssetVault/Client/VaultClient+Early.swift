public import SealedPack
public import VaultBase
import VaultCrypto

/// Files of packs that are not loaded yet.
extension VaultClient {
    /// A pack for reading some of its files before it is loaded. Where a version is loaded, that one is read; else the version that the
    /// site lists, or the one that has begun to arrive.
    ///
    /// - Throws: `.key` without the key of the pack, `.missing` for a pack that the site does not list, and what ``refresh()`` and a
    ///   download throw.
    public func early(_ id: PackID) async throws(VaultError) -> EarlyPack {
        try await store.naming { () throws(VaultError) in
            do throws(VaultError) {
                return EarlyPack(HeldPack(try await self.store.loadedLease(of: id), in: self.store))
            } catch {
                guard error.category == .missing else { throw error }
            }
            return try await self.arriving(id)
        }
    }

    private func arriving(_ id: PackID) async throws(VaultError) -> EarlyPack {
        let offer = try await offer(of: id)
        guard let keys = keysOfRun(for: [offer]) else {
            throw VaultError(
                .key, "the pack is encrypted, and no key was given", at: id.description,
                remedy: "give its key", hint: .givingKey)
        }
        let stager = stager(with: keys, within: newAllowance)
        return EarlyPack(
            try await ArrivingPack(offer, by: stager, with: keys), named: store.shownID(of: offer.pack.id),
            in: store)
    }

    /// The version to read. The site need not be asked where this program has begun to download a version that verified metadata list;
    /// another user's files do not keep it from that.
    private func offer(of id: PackID) async throws(VaultError) -> LocatedPack {
        if view == nil, let known = try await knownOffer(of: id), hasBegun(known.pack) { return known }
        do throws(VaultError) { return try await currentView().pack(withID: id) } catch {
            guard error.isHostFailure, let known = try await knownOffer(of: id) else { throw error }
            return known
        }
    }

    private func hasBegun(_ pack: PackManifest) -> Bool {
        guard let record = try? storeAccess.records.record(of: pack.id) else { return false }
        let isNamed = [record.arriving, record.waiting].contains { $0?.sha256 == pack.sha256 }
        return isNamed && DownloadFile(layout: storeAccess.layout, pack: pack).hasBegun
    }

    /// As the store's metadata list it; nil where they do not.
    private func knownOffer(of id: PackID) async throws(VaultError) -> LocatedPack? {
        guard let view = try await store.storedSite.view(),
            let pack = try? await view.pack(listedAs: store.listedID(of: id))?.pack
        else { return nil }
        return try site.locate(recorded: pack, listedBy: view.version)
    }
}
