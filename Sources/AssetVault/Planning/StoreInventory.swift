import SealedPack
import VaultBase
import VaultFileSystem

/// What a store has of the packs that a site offers: the input of a plan.
struct StoreInventory: Sendable {
    let store: StoreAccess

    private var layout: StoreLayout { store.layout }
    private var role: StoreRole { store.role }
    private var records: PackRecords { store.records }

    /// The files of the offered packs, and of other packs that wait or were being downloaded. A pack that is loaded
    /// just as it is offered, as nearly all packs of a large site, is not inspected further.
    ///
    /// - Parameter form: the form of packs in permanent storage; nil where any will do.
    func storedPacks(
        for offers: [LocatedPack], as form: PackForm?, listedBy listing: ListingVersion
    ) async throws(VaultError) -> [StoredPack] {
        let packs = offers.map(\.pack)
        let loaded = try await self.loaded(among: packs, as: form, listedBy: listing)
        // The budget for records that other users may have written, for all packs together.
        var budget = StoreArea.Budget()
        var stored: [StoredPack] = []
        stored.reserveCapacity(packs.count)
        for pack in packs {
            let isLoaded = loaded.contains(pack.id)
            stored.append(
                isLoaded
                    ? StoredPack(id: pack.id, loaded: pack)
                    : try await lookedAt(pack, as: form, within: &budget))
        }
        let known = Set(packs.map(\.id))
        let others = try records.waitingIDs() + arrivingIDs(within: &budget)
        for id in Set(others).subtracting(known).sorted() {
            if Task.isCancelled { throw VaultError.cancelled(id.description) }
            if let record = try? records.record(of: id, within: &budget),
                let found = try? storedPack(id, record, offered: nil, as: form, within: &budget)
            {
                stored.append(found)
            }
        }
        return stored
    }

    /// The same for the offered packs only, without changing anything.
    func inspectedPacks(for offers: [LocatedPack], as form: PackForm?) async throws(VaultError)
        -> [StoredPack]
    {
        var budget = StoreArea.Budget()
        var stored: [StoredPack] = []
        for pack in offers.map(\.pack) {
            let record = try await store.journal.state(of: pack.id)
            stored.append(try storedPack(pack.id, record, offered: pack, as: form, within: &budget))
        }
        return stored
    }

    private func lookedAt(
        _ pack: PackManifest, as form: PackForm?, within budget: inout StoreArea.Budget
    ) async throws(VaultError) -> StoredPack {
        do throws(VaultError) {
            let saved = try records.readableRecord(of: pack.id)
            // A damaged record; superseded versions that were held; or a version that is missing.
            let contradictsRecord = saved.map { $0.loaded?.pack.sha256 == pack.sha256 } ?? true
            // A downloader died after it named the pack and before it recorded that.
            var isUnrecorded = false
            if role == .downloader, saved?.waiting != pack {
                isUnrecorded = try store.waiting(pack.id).status(of: pack) != nil
            }
            guard contradictsRecord || isUnrecorded else {
                return try storedPack(
                    pack.id, saved ?? PackRecord(), offered: pack, as: form, within: &budget)
            }
            try await store.recovery.recover(pack.id)
            // A record that can't be read counts as empty: the pack is staged again.
            let recovered = (try? records.record(of: pack.id)) ?? PackRecord()
            return try storedPack(pack.id, recovered, offered: pack, as: form, within: &budget)
        } catch {
            guard error.concernsOnePack else { throw error }
            // Staging the pack reports why it can't be inspected.
            return StoredPack(id: pack.id)
        }
    }

    /// The packs that the files in ephemeral storage may belong to.
    private func arrivingIDs(within budget: inout StoreArea.Budget) throws(VaultError) -> [PackID] {
        guard try FileSystem.exists(layout.ephemeral),
            try !Folder(opening: layout.ephemeral).names(upTo: 1).names.isEmpty
        else { return [] }
        var found: [PackID] = []
        for id in try records.allIDs()
        where (try? records.arriving(of: id, within: &budget))?.isEmpty == false {
            found.append(id)
        }
        return found
    }

    /// - Parameter offered: the pack that the site lists: files with its digest count, whichever role made them and
    /// whatever the record says.
    private func storedPack(
        _ id: PackID, _ record: PackRecord, offered: PackManifest?, as form: PackForm?,
        within budget: inout StoreArea.Budget
    ) throws(VaultError) -> StoredPack {
        var stored = StoredPack(id: id)
        // A version in another form needs to be loaded again.
        if let loaded = record.loaded, form == nil || loaded.form == form { stored.loaded = loaded.pack }
        if let ready = record.ready?.version, form == nil || ready.form == form { stored.ready = ready.pack }
        for pack in [offered, record.waiting].compactMap(\.self) where stored.waiting == nil {
            if try store.waiting(id).seemsToHold(pack) { stored.waiting = pack }
        }
        // The other role's download can be used; its record may be unreadable.
        let other = try? records.record(of: id, in: role.other, within: &budget)
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

    /// Number of packs that one task looks at.
    private static let share = 256

    /// The packs that are live just as they are listed.
    func loaded(
        among packs: [PackManifest], as form: PackForm?, listedBy listing: ListingVersion
    ) async throws(VaultError) -> Set<PackID> {
        let shares = stride(from: 0, to: packs.count, by: Self.share).map {
            packs[$0..<min($0 + Self.share, packs.count)]
        }
        var loaded: Set<PackID> = []
        try await runInOrder(
            shares, work: { $0.filter { isLoaded($0, as: form, listedBy: listing) }.map(\.id) },
            deliver: { loaded.formUnion($0) })
        return loaded
    }

    /// False for anything odd: staging the pack finds out what it is.
    private func isLoaded(_ pack: PackManifest, as form: PackForm?, listedBy listing: ListingVersion)
        -> Bool
    {
        guard let record = try? records.record(of: pack.id), let form = form ?? record.loaded?.form
        else {
            return false
        }
        let version = layout.version(pack, as: form)
        guard record.isLoaded(pack, as: form, listedBy: listing),
            let current = try? FileSystem.status(of: layout.current(of: pack.id), followingLinks: true),
            let loaded = try? FileSystem.status(of: version), current.isSameFile(as: loaded)
        else { return false }
        return !store.journal.hasChangedFingerprint(record) && pack.isSaved(beside: version)
    }
}

/// The files of one pack in a store. Each member but `id` stands for files of its own.
struct StoredPack: Sendable {
    let id: PackID
    /// In permanent storage, ready for use.
    var loaded: PackManifest?
    /// In permanent storage, and not live before the others of its set are complete.
    var ready: PackManifest?
    /// Complete and verified, in shared storage.
    var waiting: PackManifest?
    /// Complete and verified, still in ephemeral storage.
    var downloaded: PackManifest?
    /// A partial download.
    var partial: PackManifest?
    /// Whether the fingerprint of the loaded version has changed.
    var hasChangedFingerprint = false
    /// Whether the last attempt to get it failed.
    var hasFailed = false
    /// Whether the app removed it: it comes back only when it is asked for.
    var isUnwanted = false
    /// Whether its removal was begun, so that none of its files counts.
    var isBeingRemoved = false

    /// The files that are not ready for use, the furthest staged one first.
    var files: [StoredFile] {
        var files: [StoredFile] = []
        if let ready { files.append(StoredFile(stage: .ready, pack: ready)) }
        if let waiting { files.append(StoredFile(stage: .waiting, pack: waiting)) }
        if let downloaded { files.append(StoredFile(stage: .downloaded, pack: downloaded)) }
        if let partial { files.append(StoredFile(stage: .partial, pack: partial)) }
        return files
    }

    /// Whether it was ever requested here.
    var isPresent: Bool { loaded != nil || !files.isEmpty }
}

/// A file on its way to permanent storage.
struct StoredFile: Sendable, Hashable {
    enum Stage: Sendable, Hashable {
        case partial
        case downloaded
        case waiting
        case ready

        /// Whether it is in a folder of the pack, where the next version that is staged removes it.
        var isOfPack: Bool { self == .waiting || self == .ready }
    }

    let stage: Stage
    let pack: PackManifest
}
