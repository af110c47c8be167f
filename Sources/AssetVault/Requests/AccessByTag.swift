import SealedPack
package import VaultBase

/// What resource requests ask of their client.
extension VaultClient {
    /// Access to all packs of some tags for a caller that links their files: if a pack is kept sealed, nothing is downloaded.
    package func linkableAccess(to tags: Set<String>) async throws(VaultError) -> ResourceAccess {
        try await access(
            to: tags, in: work.makeBatch(.urgent), reportingTo: LoadingTracker(), isForLinks: true)
    }

    /// Access to all packs of some tags; what is missing is downloaded.
    func access(
        to tags: Set<String>, in batch: WorkQueue.Batch, reportingTo downloads: LoadingTracker,
        isForLinks: Bool = false
    ) async throws(VaultError) -> ResourceAccess {
        try await store.naming { () throws(VaultError) in
            try await batch.whileWanted(at: tags.sorted().joined(separator: ", ")) { () throws(VaultError) in
                try await self.accessWhileWanted(
                    to: tags, in: batch, reportingTo: downloads, isForLinks: isForLinks)
            }
        }
    }

    private func accessWhileWanted(
        to tags: Set<String>, in batch: WorkQueue.Batch, reportingTo downloads: LoadingTracker,
        isForLinks: Bool
    ) async throws(VaultError) -> ResourceAccess {
        let limit = configuration.policy.accessedSize
        if let stored = try await storedPacks(with: tags), stored.unknownTags.isEmpty {
            let packs = stored.offers.map(\.pack)
            // If an update is not complete, the versions before may belong to an earlier state of the site.
            if let loaded = try await store.loadedPacks(packs) {
                if loaded.areAsListed { return try await store.grant(loaded, tags, within: limit) }
                if let access = try await localAccess(to: tags) { return access }
            }
        }
        try await storeAccess.recovery.recover()
        do throws(VaultError) {
            return try await accessByNewestListing(
                to: tags, in: batch, reportingTo: downloads, isForLinks: isForLinks)
        } catch {
            // Without the host what is loaded stays open.
            guard error.isHostFailure, !Task.isCancelled,
                let access = try? await localAccess(to: tags)
            else { throw error }
            return access
        }
    }

    private func accessByNewestListing(
        to tags: Set<String>, in batch: WorkQueue.Batch, reportingTo downloads: LoadingTracker,
        isForLinks: Bool
    ) async throws(VaultError) -> ResourceAccess {
        let limit = configuration.policy.accessedSize
        let allowance = newAllowance
        return try await byNewestListing(for: tags.sorted().joined(separator: ", "), within: allowance) {
            view, isNew throws(VaultError) in
            let selected = try await view.select(.tagged(tags))
            // They may have been published since.
            if !selected.unknownTags.isEmpty, !isNew { return nil }
            try await note(selected, in: view)
            if let unreadable = selected.unreadable { throw unreadable }
            try selected.requireKnownTags()
            // Before anything is downloaded.
            if isForLinks { try store.requireOpened(selected.offers.map(\.pack.id)) }
            try store.requireRoom(for: selected.offers.map(\.pack), tags, within: limit)
            do throws(VaultError) {
                let report = try await stage(
                    selected, listedBy: view, in: batch, within: allowance, needsAll: true,
                    reportingTo: downloads)
                try report.requireUnlocked()
            } catch {
                // Another process removed or purged one while it was staged. This request still needs it.
                guard error.category == .missing, selected.offers.contains(where: { isRemoved($0.pack.id) })
                else { throw error }
                return nil
            }
            try await requireNoneAwaitsKey(of: selected.offers.map(\.pack.id))
            guard let loaded = try await store.loadedPacks(selected.offers.map(\.pack)) else { return nil }
            if !loaded.areAsListed, isOvertaken(selected) { return nil }
            return try await store.grant(loaded, tags, within: limit)
        }
    }

    /// Whether another process has updated one of the packs by a newer listing meanwhile.
    private func isOvertaken(_ selected: SelectedPacks) -> Bool {
        selected.offers.contains { offer in
            (try? storeAccess.records.record(of: offer.pack.id)).map { $0.listing > offer.listing } ?? false
        }
    }

    private func isRemoved(_ id: PackID) -> Bool {
        (try? storeAccess.records.record(of: id).isRemoved) ?? false
    }

    /// The packs of the tags according to the metadata that were verified last. Where this release can't read them all, newer ones are asked for.
    private func storedPacks(with tags: Set<String>) async throws(VaultError) -> SelectedPacks? {
        let packs = try await store.storedSite.view()?.storedPacks(with: tags)
        guard let unreadable = packs?.unreadable else { return packs }
        try await storeAccess.recovery.recover()
        do throws(VaultError) { try await updateListing() } catch {
            throw Task.isCancelled ? error : unreadable
        }
        return nil
    }

    /// Access to the packs of some tags, if all are loaded.
    func localAccess(to tags: Set<String>) async throws(VaultError) -> ResourceAccess? {
        try await store.access(to: tags, within: configuration.policy.accessedSize)
    }
}

/// Access to packs that are loaded: no site is asked.
extension VaultStore {
    /// Access to the packs of some tags; nil where one of them is not loaded, or nothing is known of the site.
    ///
    /// - Parameter limit: of all packs in access, in bytes once opened.
    package func access(
        to tags: Set<String>, within limit: UInt64? = nil
    ) async throws(VaultError) -> ResourceAccess? {
        guard let (packs, view) = try await knownPacks(with: tags) else { return nil }
        let present = try await loadedPacks(packs)
        if let present, present.areAsListed { return try await grant(present, tags, within: limit) }
        // An update is not complete: what is loaded may be all packs of the tags in an earlier state.
        let earlier = try await storedSite.firstEarlier(before: view) {
            (earlier: SiteView) async throws(VaultError) -> LoadedPacks? in
            guard let found = try await earlier.storedPacks(with: tags), found.unknownTags.isEmpty,
                let loaded = try await loadedPacks(found.offers.map(\.pack)), loaded.areAsListed
            else { return nil }
            return loaded
        }
        guard let loaded = earlier ?? present else { return nil }
        return try await grant(loaded, tags, within: limit)
    }

    /// By the latest state of the site in which all that may list them was read, and their names are known; nil where there is none.
    /// Throws why their table is not open where only the names are missing: `.key`, `.corrupt`, `.missing`.
    private func knownPacks(
        with tags: Set<String>
    ) async throws(VaultError) -> (packs: [PackManifest], view: SiteView)? {
        var failure = await openWaitingNames()
        guard var view = try await storedSite.view() else { return nil }
        // The file of names is damaged or missing, or a process was killed before it wrote it: the loaded table has the names.
        if view.missingNames != nil {
            do throws(VaultError) {
                if let names = try await adoptNames(listedBy: view, with: keys) {
                    try await view.follow(names)
                }
            } catch { failure = error.ofNames }
        }
        if let present = try await view.storedPacks(with: tags) {
            if let unreadable = present.unreadable { throw unreadable }
            try present.requireKnownTags()
            return (present.offers.map(\.pack), view)
        }
        let earlier = try await storedSite.firstEarlier(before: view) { earlier throws(VaultError) in
            // Metadata that was not read since may have a tag that this state does not know.
            let found = try await earlier.storedPacks(with: tags)
            return found?.refusals.isEmpty == true && found?.unknownTags.isEmpty == true ? found : nil
        }
        if let earlier { return (earlier.offers.map(\.pack), view) }
        if view.missingNames != nil, let table = try? await view.namesTable() {
            throw try await whyClosed(table.pack, after: failure)
        }
        return nil
    }

    /// The packs of some tags of which no version is loaded, and those of them that only wait for their key. Nil where nothing is
    /// known of the tags.
    package func unloadedPacks(
        with tags: Set<String>
    ) async throws(VaultError) -> (ids: [PackID], waiting: [PackID])? {
        guard let packs = try await knownPacks(with: tags)?.packs else { return nil }
        let ids = try notLoaded(of: packs.map(\.id))
        return (ids, try await awaitingKey(among: ids))
    }

    /// Those of some packs of which a version waits for its key.
    func awaitingKey(among ids: [PackID]) async throws(VaultError) -> [PackID] {
        var waiting: [PackID] = []
        guard try hasStore else { return [] }
        for id in ids where try await brought.record(of: presentID(of: id)).waiting != nil {
            waiting.append(id)
        }
        return waiting
    }

    /// Throws `.accessLimit` where the packs would exceed what may be in access.
    func requireRoom(
        for packs: [PackManifest], _ tags: Set<String>, within limit: UInt64?
    ) throws(VaultError) {
        guard let limit else { return }
        try AccessNotes(layout: layout).requireRoom(for: AccessNotes.Note(of: packs, tags), within: limit)
    }

    /// Holds the versions of packs that are live at one moment; nil where one of the packs is not loaded.
    func loadedPacks(_ packs: [PackManifest]) async throws(VaultError) -> LoadedPacks? {
        for _ in 0..<Self.attempts {
            var leases: [PackLease] = []
            for pack in packs {
                do throws(VaultError) { leases.append(try await loadedLease(of: pack.id)) } catch {
                    guard error.category == .missing else { throw error }
                    return nil
                }
            }
            // An update may have made others live meanwhile.
            var areLive = true
            for lease in leases where try !lease.isLive(in: layout) { areLive = false }
            if areLive { return LoadedPacks(packs: packs, leases: leases) }
        }
        throw VaultError(
            .busy, "the packs are being updated again and again", at: layout.permanent.string,
            remedy: "try again")
    }

    /// How often packs are locked anew because others became live.
    private static let attempts = 100

    /// Gives access to packs that are held.
    func grant(
        _ loaded: LoadedPacks, _ tags: Set<String>, within limit: UInt64?
    ) async throws(VaultError) -> ResourceAccess {
        let note = AccessNotes.Note(of: loaded.packs, tags)
        let notes = AccessNotes(layout: layout)
        let posted = try await storeAccess.withLock { () throws(VaultError) in
            if let limit { try notes.requireRoom(for: note, within: limit) }
            return try notes.post(note)
        }
        return ResourceAccess(loaded.leases, of: self, note: posted)
    }
}

/// Packs by one listing, and the versions of them that are held.
struct LoadedPacks: Sendable {
    let packs: [PackManifest]
    /// In the order of the packs.
    let leases: [PackLease]

    /// Whether the versions are those of the listing.
    var areAsListed: Bool {
        zip(packs, leases).allSatisfy { pack, lease in
            lease.root.lastComponent?.string == VersionName(of: pack, as: lease.form).text
        }
    }
}

/// Whether the files of packs can be linked.
extension VaultStore {
    /// Throws `.usage` where some of the packs are kept sealed: updates stay so.
    func requireOpened(_ ids: [PackID]) throws(VaultError) {
        try refuse(sealed: ids.filter { (try? storeAccess.records.record(of: $0))?.loaded?.form == .sealed })
    }

    /// How many packs an error names.
    private static let namedPacks = 8

    /// Names for people, of many only the first ones.
    package func list(_ ids: [PackID]) -> String {
        ids.lazy.map { self.shownID(of: $0).description }.listed(upTo: Self.namedPacks)
    }

    /// Throws `.usage` where there is one.
    func refuse(sealed ids: [PackID]) throws(VaultError) {
        guard !ids.isEmpty else { return }
        throw VaultError(
            .usage, "kept sealed, so that programs can't read files by their names", at: list(ids),
            remedy: "read single files with 'assetvault cat', or open the packs",
            hint: .openingPacks(
                ids.prefix(Self.namedPacks).map { shownID(of: $0).description }, store: layout.options))
    }
}

extension StoreLayout {
    /// The options of the command that name it.
    fileprivate var options: [String] {
        let root = shared.removingLastComponent()
        var options = ["--store", root.string]
        guard self != StoreLayout(root: root) else { return options }
        options += ["--ephemeral", ephemeral.string, "--shared", shared.string]
        return options + ["--permanent", permanent.string]
    }
}
