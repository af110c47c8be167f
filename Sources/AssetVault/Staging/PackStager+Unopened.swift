import SealedPack
import VaultBase

/// The packs that wait to be opened.
extension PackStager {
    /// The packs that wait for their key or for the others of their set, also those that an earlier attempt to open them did not complete,
    /// and those kept sealed where the opened form is wanted.
    ///
    /// Others may have put any number of folders into shared storage: of those that were not named, only listed packs count.
    func unopenedIDs(among ids: [PackID]?) async throws(VaultError) -> [PackID] {
        let records = store.records
        let isOpeningSealed = !accepts(.sealed)
        var found: Set<PackID> = []
        for id in try records.ids() {
            guard let record = try? records.record(of: id) else { continue }
            var isUnopened = record.waiting != nil || isOpeningSealed && record.loaded?.form == .sealed
            if record.ready != nil, await !isWithdrawn(id) { isUnopened = true }
            if isUnopened { found.insert(id) }
        }
        let others = try records.waitingIDs().filter { !found.contains($0) }
        if let ids {
            found.formUnion(others)
            // Each once, also one that was named twice.
            return ids.filter { found.remove($0) != nil }
        }
        guard let storedView else {
            // None of them can be opened, for one reason: a few are enough to report it.
            return found.union(others.prefix(64)).sorted()
        }
        for id in others {
            if Task.isCancelled { throw VaultError.cancelled("unlock") }
            if try await storedView.pack(listedAs: id) != nil { found.insert(id) }
        }
        return found.sorted()
    }

    /// The sets of packs that wait, by the stored metadata, and all packs that wait in them.
    func sets(of ids: [PackID]) async throws(VaultError) -> (ids: [PackID], sets: [PlannedSet]) {
        var (ids, changes): ([PackID], [PlannedSet.Change]) = (ids, [])
        for id in ids {
            guard let pack = try await packToOpen(id) else { continue }
            changes.append(
                PlannedSet.Change(pack: pack, isUpdate: store.records.isUpdate(pack), comesNow: true))
        }
        // Where stored metadata are missing, the others are not known.
        let others = try? await storedView?.updates(belongingTo: changes.map(\.pack), in: store.records)
        for offer in others ?? [] {
            let isHere = try await packToOpen(offer.pack.id)?.sha256 == offer.pack.sha256
            if isHere { ids.append(offer.pack.id) }
            changes.append(PlannedSet.Change(pack: offer.pack, isUpdate: true, comesNow: isHere))
        }
        return (ids, PlannedSet.sets(of: changes, areTogether: false))
    }

    /// The version that ``unlock(_:)`` would make live; nil where none waits.
    private func packToOpen(_ id: PackID) async throws(VaultError) -> PackManifest? {
        // A damaged record is made again when the pack is opened.
        let record = try? store.records.record(of: id)
        let listed = try? await storedView?.pack(listedAs: id)?.pack
        if let listed, try store.waiting(id).status(of: listed) != nil { return listed }
        let ready = await isWithdrawn(id) ? nil : record?.ready
        guard let pack = record?.waiting ?? ready?.version.pack else { return nil }
        // With the tags that opaque names hide.
        return listed?.sha256 == pack.sha256 ? listed : pack
    }
}
