import SealedPack
import UpdateFramework
import VaultErrors
import VaultFileSystem

/// What resource requests ask of their client.
extension VaultClient {
    /// How often packs may be removed by others before they are in access.
    private static let attempts = 3

    /// Access to all packs of some tags; what is missing is downloaded.
    func access(
        to tags: Set<String>, in batch: WorkQueue.Batch, reportingTo downloads: RequestDownloads
    ) async throws(VaultError) -> ResourceAccess {
        defer { downloads.end() }
        let stored = try await storedPacks(with: tags)
        if let stored, stored.unknownTags.isEmpty, let access = try await grant(stored.packs, tags) {
            return access
        }
        try await storeAccess.recovery.recover()
        var listing = try await currentListing()
        var selected = try await select(tags, in: listing)
        if !selected.unknownTags.isEmpty {
            // They may have been published since.
            try await refresh()
            listing = try await currentListing()
            selected = try await select(tags, in: listing)
        }
        try Self.requireKnown(selected.unknownTags, among: stored?.listedTags ?? [])
        for _ in 0..<Self.attempts {
            let missingKeys = try await stage(selected, listedBy: listing, in: batch, reportingTo: downloads)
            if let missingKey = missingKeys.first { throw missingKey }
            if let access = try await grant(selected.offers.map(\.pack), tags) { return access }
        }
        throw VaultError(
            .busy, "other processes remove what it downloads", at: tags.sorted().joined(separator: ", "),
            remedy: "try again")
    }

    /// Access to the packs of some tags, if all are loaded.
    func localAccess(to tags: Set<String>) async throws(VaultError) -> ResourceAccess? {
        guard let stored = try await storedPacks(with: tags) else { return nil }
        try Self.requireKnown(stored.unknownTags, among: stored.listedTags)
        return try await grant(stored.packs, tags)
    }

    /// By the metadata that were verified last; nil where there are none.
    private func storedPacks(with tags: Set<String>) async throws(VaultError) -> TaggedPacks? {
        let listing = try await StoredListing(
            kept: storeAccess, trusting: configuration.trustedRoot, choosing: configuration.listingChoice)
        guard let listing else { return nil }
        return TaggedPacks(tags, among: try await listing.packs, for: configuration.device)
    }

    private func select(
        _ tags: Set<String>, in listing: SiteAccess.Listing
    ) async throws(VaultError) -> SelectedPacks {
        try await SelectedPacks(.tagged(tags), for: configuration.device, of: access, in: listing)
    }

    private func stage(
        _ selected: SelectedPacks, listedBy listing: SiteAccess.Listing, in batch: WorkQueue.Batch,
        reportingTo downloads: RequestDownloads
    ) async throws(VaultError) -> [VaultError] {
        let ids = selected.offers.map(\.pack.id)
        let missing = Set(try store.notLoaded(of: ids))
        downloads.begin(selected.offers.map(\.pack).filter { missing.contains($0.id) })
        let updates = statusUpdates
        async let reporting: Void = {
            for await update in updates { downloads.note(update) }
        }()
        let result = await outcome { () throws(VaultError) in
            try await self.stage(selected, listedBy: listing, in: batch)
        }
        updates.end()
        await reporting
        return try result.get()
    }

    /// Holds the packs; nil where one of them is not loaded.
    private func grant(_ packs: [PackManifest], _ tags: Set<String>) async throws(VaultError)
        -> ResourceAccess?
    {
        var leases: [PackLease] = []
        for pack in packs {
            do throws(VaultError) { leases.append(try await store.lease(of: pack.id)) } catch {
                guard error.category == .missing else { throw error }
                return nil
            }
        }
        let note = AccessNotes.Note(
            process: .current, tags: tags.sorted(),
            packs: Dictionary(packs.map { ($0.id, $0.openedSize) }) { first, _ in first })
        let notes = AccessNotes(layout: storeAccess.layout)
        let limit = configuration.policy.accessedSize
        let posted = try await storeAccess.withLock { () throws(VaultError) in
            if let limit { try notes.requireRoom(for: note, within: limit) }
            return try notes.post(note)
        }
        return ResourceAccess(leases, of: store, note: posted)
    }

    private static func requireKnown(
        _ unknown: Set<String>, among listed: Set<String>
    ) throws(VaultError) {
        guard let tag = unknown.min() else { return }
        throw VaultError(
            .unknownTag, "no pack of the site has the tag '\(tag.excerpt)'", at: "tags",
            remedy: "check its spelling, or publish it"
        ).suggesting(tag, among: listed)
    }
}

extension AccessNotes {
    /// Throws `.limit` where the packs of a note and those in access already have more bytes than this.
    func requireRoom(for note: Note, within limit: UInt64) throws(VaultError) {
        let present = try all()
        var packs: [PackID: UInt64] = [:]
        for other in present { packs.merge(other.packs, uniquingKeysWith: max) }
        let used = packs.values.reduce(UInt64(0)) { $0 + min($1, .max - $0) }
        packs.merge(note.packs, uniquingKeysWith: max)
        let wanted = packs.values.reduce(UInt64(0)) { $0 + min($1, .max - $0) }
        guard wanted > limit else { return }
        let tags = Set(present.flatMap(\.tags)).sorted().joined(separator: ", ")
        throw VaultError(
            .limit,
            "\(wanted) bytes would be in access, and \(limit) may be; \(used) are now, by the tags \(tags.excerpt)",
            at: note.tags.joined(separator: ", "), remedy: "end the access to what is not needed now")
    }
}
