import SealedPack
import VaultErrors

/// Access to packs that are loaded: no site is asked.
extension VaultStore {
    /// Access to the packs of some tags; nil where one of them is not loaded, or nothing is known of the site.
    ///
    /// - Parameter limit: of all packs in access, in bytes once opened.
    package func access(
        to tags: Set<String>, within limit: UInt64? = nil
    ) async throws(VaultError) -> ResourceAccess? {
        guard let packs = try await knownPacks(with: tags) else { return nil }
        return try await grant(packs, tags, within: limit)
    }

    /// By the latest state of the site in which all that may list them was read, and their names are known; nil where there is none.
    /// Throws why their table is not open where only the names are missing: `.key`, `.corrupt`, `.missing`.
    private func knownPacks(with tags: Set<String>) async throws(VaultError) -> [PackManifest]? {
        var failure = await openWaitingNames()
        guard var view = try await storedSite.view() else { return nil }
        // Their file is damaged or gone, or one was killed before it was written: the table that is loaded has them.
        if view.missingNames != nil {
            do throws(VaultError) {
                if let names = try await adoptNames(with: keys) { try await view.follow(names) }
            } catch { failure = error.ofNames }
        }
        if let present = try await view.storedPacks(with: tags) {
            if let unreadable = present.unreadable { throw unreadable }
            try present.requireKnownTags()
            return present.offers.map(\.pack)
        }
        let earlier = try await storedSite.firstEarlier(before: view) { earlier throws(VaultError) in
            // A tag that it does not know may be in what was not read since.
            let found = try await earlier.storedPacks(with: tags)
            return found?.refusals.isEmpty == true && found?.unknownTags.isEmpty == true ? found : nil
        }
        if let earlier { return earlier.offers.map(\.pack) }
        if view.missingNames != nil, let table = try? await view.namesTable() {
            throw try await whyClosed(table.pack, after: failure)
        }
        return nil
    }

    /// By the metadata that were verified last. Nil where there are none, or what they say of these tags is not stored.
    func storedPacks(with tags: Set<String>) async throws(VaultError) -> SelectedPacks? {
        try await storedSite.view()?.storedPacks(with: tags)
    }

    /// The packs of some tags of which no version is loaded, and those of them that only wait for their key. Nil where nothing is
    /// known of the tags.
    package func unloadedPacks(
        with tags: Set<String>
    ) async throws(VaultError) -> (ids: [PackID], waiting: [PackID])? {
        guard let packs = try await knownPacks(with: tags) else { return nil }
        let ids = try notLoaded(of: packs.map(\.id))
        return (ids, try await awaitingKey(among: ids))
    }

    /// Those of some packs of which a version waits for its key.
    func awaitingKey(among ids: [PackID]) async throws(VaultError) -> [PackID] {
        var waiting: [PackID] = []
        for id in ids where try await status(of: id).waitingVersion != nil { waiting.append(id) }
        return waiting
    }

    /// Throws `.accessLimit` where the packs would exceed what may be in access.
    func requireRoom(
        for packs: [PackManifest], _ tags: Set<String>, within limit: UInt64?
    ) throws(VaultError) {
        guard let limit else { return }
        try AccessNotes(layout: layout).requireRoom(for: AccessNotes.Note(of: packs, tags), within: limit)
    }

    /// Holds the packs; nil where one of them is not loaded.
    func grant(
        _ packs: [PackManifest], _ tags: Set<String>, within limit: UInt64?
    ) async throws(VaultError) -> ResourceAccess? {
        var leases: [PackLease] = []
        for pack in packs {
            do throws(VaultError) { leases.append(try await loadedLease(of: pack.id)) } catch {
                guard error.category == .missing else { throw error }
                return nil
            }
        }
        let note = AccessNotes.Note(of: packs, tags)
        let notes = AccessNotes(layout: layout)
        let posted = try await storeAccess.withLock { () throws(VaultError) in
            if let limit { try notes.requireRoom(for: note, within: limit) }
            return try notes.post(note)
        }
        return ResourceAccess(leases, of: self, note: posted)
    }
}
