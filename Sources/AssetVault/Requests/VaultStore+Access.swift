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
        guard var listing = try await storedListing() else { return nil }
        // Their file is damaged or gone, or one was killed before it was written: the table that is loaded has them.
        if listing.hasQuietNames == true, try await !listing.knowsNames {
            do throws(VaultError) {
                if try await adoptNames(with: keys) != nil {
                    listing.storedNames = try StoredNames(of: storeAccess)
                }
            } catch { failure = error.ofNames }
        }
        if let present = try await listing.taggedPacks(with: tags) {
            try TaggedPacks.requireKnown(present.unknownTags, among: present.listedTags)
            return present.packs
        }
        let earlier = try await listing.firstEarlier { earlier throws(VaultError) in
            // A tag that it does not know may be in what was not read since.
            guard let found = try await earlier.taggedPacks(with: tags), found.unknownTags.isEmpty
            else { return [PackManifest]?.none }
            return found.packs
        }
        if let earlier { return earlier }
        if listing.hasQuietNames == true, try await !listing.knowsNames,
            let table = try await listing.namesTable
        {
            throw try await whyClosed(table, after: failure)
        }
        return nil
    }

    /// By the metadata that were verified last. Nil where there are none, or what they say of these tags is not stored.
    func storedPacks(with tags: Set<String>) async throws(VaultError) -> TaggedPacks? {
        try await storedListing()?.taggedPacks(with: tags)
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

    private func storedListing() async throws(VaultError) -> StoredListing? {
        try await StoredListing(kept: storeAccess, trusting: trustedRoot, choosing: choice)
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

extension StoredListing {
    /// Nil where what it says of these tags is not stored. That a tag is unknown is said only where the whole listing is known.
    fileprivate func taggedPacks(with tags: Set<String>) async throws(VaultError) -> TaggedPacks? {
        guard let listed = try await packs(with: tags) else { return nil }
        let packs = try TaggedPacks(tags, among: listed, for: device)
        guard !packs.unknownTags.isEmpty else { return packs }
        return try await allPacks().map { packs throws(VaultError) in
            try TaggedPacks(tags, among: packs, for: device)
        }
    }
}

extension TaggedPacks {
    /// Throws `.unknownTag`, with the nearest name.
    static func requireKnown(_ unknown: Set<String>, among listed: Set<String>) throws(VaultError) {
        guard let tag = unknown.min() else { return }
        throw VaultError(
            .unknownTag, "no pack of the site has the tag '\(tag.excerpt)'", at: "tags",
            remedy: "check its spelling, or publish it; 'path' takes the ID of a pack"
        ).suggesting(tag, among: listed.sorted())
    }
}
