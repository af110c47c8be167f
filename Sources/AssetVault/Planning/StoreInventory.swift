import SealedPack
import VaultErrors
import VaultFileSystem

/// What a store has of the packs that a site offers: what a plan is made of.
struct StoreInventory: Sendable {
    let store: StoreAccess

    private var layout: StoreLayout { store.layout }
    private var records: PackRecords { store.records }

    /// What the store has of the packs that are offered, and of those that wait, or were being downloaded, though they are
    /// not. A pack that is loaded just as it is offered, which of a large site nearly all are, is not looked at closely.
    ///
    /// - Parameter form: in which packs are to stand in permanent storage; nil where any will do.
    func storedPacks(
        for offers: [OfferedPack], as form: PackForm?, listedBy listing: ListingVersion
    ) async throws(VaultError) -> [StoredPack] {
        let packs = offers.map(\.pack)
        let loaded = await self.loaded(among: packs, as: form, listedBy: listing)
        var stored: [StoredPack] = []
        stored.reserveCapacity(packs.count)
        for pack in packs {
            if loaded.contains(pack.id) {
                stored.append(StoredPack(id: pack.id, loaded: pack))
            } else {
                stored.append(try await lookedAt(pack, as: form))
            }
        }
        let known = Set(packs.map(\.id))
        for id in try Set(records.waitingIDs() + arrivingIDs()).sorted() where !known.contains(id) {
            if let record = try? records.record(of: id),
                let found = try? storedPack(id, record, offered: nil, as: form)
            {
                stored.append(found)
            }
        }
        return stored
    }

    /// The same for the packs that are offered alone; nothing is changed by looking.
    func inspectedPacks(for offers: [OfferedPack], as form: PackForm?) async throws(VaultError)
        -> [StoredPack]
    {
        var stored: [StoredPack] = []
        for offer in offers {
            let pack = offer.pack
            stored.append(
                try storedPack(pack.id, try await store.journal.state(of: pack.id), offered: pack, as: form))
        }
        return stored
    }

    private func lookedAt(_ pack: PackManifest, as form: PackForm?) async throws(VaultError) -> StoredPack {
        do throws(VaultError) {
            let saved = try records.soundRecord(of: pack.id)
            // A damaged record; versions that were in use when they were replaced; or what is recorded is there no more.
            let isOdd = saved.map { $0.loaded?.pack.sha256 == pack.sha256 } ?? true
            // A pack that got its name from a downloader that died before it recorded that.
            var isUnrecorded = false
            if store.role == .downloader, saved?.waiting != pack {
                isUnrecorded = try store.waiting(pack.id).status(of: pack) != nil
            }
            guard isOdd || isUnrecorded else {
                return try storedPack(pack.id, saved ?? PackRecord(), offered: pack, as: form)
            }
            try await store.recovery.recover(pack.id)
            // One that can't be read says nothing: the pack is staged anew.
            let recovered = (try? records.record(of: pack.id)) ?? PackRecord()
            return try storedPack(pack.id, recovered, offered: pack, as: form)
        } catch {
            guard error.concernsOnePack else { throw error }
            // It can't be looked at now: whoever stages it is told why.
            return StoredPack(id: pack.id)
        }
    }

    /// The packs that something in ephemeral storage may belong to.
    private func arrivingIDs() throws(VaultError) -> [PackID] {
        guard try FileSystem.exists(layout.ephemeral),
            try !Folder(opening: layout.ephemeral).names().isEmpty
        else { return [] }
        return try records.allIDs().filter { (try? records.arriving(of: $0))?.isEmpty == false }
    }

    /// - Parameter offered: what the site lists: files under its digest count, whichever role brought them and whatever the
    ///   record says of others.
    private func storedPack(
        _ id: PackID, _ record: PackRecord, offered: PackManifest?, as form: PackForm?
    ) throws(VaultError) -> StoredPack {
        var stored = StoredPack(id: id)
        // In another form than is wanted it needs to be loaded again.
        if let loaded = record.loaded, form == nil || loaded.form == form { stored.loaded = loaded.pack }
        for waiting in [offered, record.waiting].compactMap(\.self) where stored.waiting == nil {
            if try store.waiting(id).seemsToHold(waiting) { stored.waiting = waiting }
        }
        // What the other role brings is of use, and its record may be closed to this one.
        let other = try? records.record(of: id, in: store.role == .app ? .downloader : .app)
        for arriving in [offered, record.arriving, other?.arriving].compactMap(\.self)
        where stored.downloaded == nil && stored.partial == nil {
            switch try DownloadFile(layout: layout, pack: arriving).arrival() {
            case .whole: stored.downloaded = arriving
            case .partial: stored.partial = arriving
            case nil: break
            }
        }
        stored.isUnwanted = record.isRemoved
        stored.isBeingRemoved = record.isRemoved && stored.isPresent
        stored.hasFailed = record.failure != nil
        stored.hasChangedFingerprint = store.journal.hasChangedFingerprint(record)
        return stored
    }
}

extension StoreAccess {
    var inventory: StoreInventory { StoreInventory(store: self) }
}
