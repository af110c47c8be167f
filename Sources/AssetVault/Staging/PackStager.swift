import SealedPack
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultTransport

/// Stages one pack: brings it from where it is to the area where its role wants it. No step is repeated, whichever process
/// did it.
struct PackStager: Sendable {
    let store: StoreAccess
    var space: DiskSpace
    var network: NetworkGate
    let retries: RetryPolicy
    /// With keys, an app installs packs in permanent storage. Without, packs wait in shared storage.
    var keys: (any KeyProvider)?
    /// The form in permanent storage; nil for the form of the earlier version.
    let form: PackForm?
    /// Opening a pack uses both cores and much of the memory: one at a time.
    let openings: AsyncSemaphore
    let reusablePacks: ReusablePacks
    /// The packs that become live together.
    var sets = PackSets()
    /// Lists the packs that a downloader brought and that may be opened, where no site is asked.
    var storedView: SiteView?

    init(
        store: StoreAccess, network: NetworkGate, retries: RetryPolicy = RetryPolicy(),
        keys: (any KeyProvider)? = nil, form: PackForm? = nil, openings: AsyncSemaphore = AsyncSemaphore(1),
        observer: @escaping Observer
    ) {
        self.store = store
        space = DiskSpace(store: store, observer: observer)
        self.network = network
        self.retries = retries
        (self.keys, self.form) = (keys, form)
        self.openings = openings
        reusablePacks = ReusablePacks(store.layout)
    }

    var observer: Observer { space.observer }
    var installer: PackInstaller { PackInstaller(store: store, space: space, sets: sets) }

    var opensPacks: Bool { store.role == .app }

    /// Stages the pack as far as the role can. Returns its state.
    func stage(_ offer: LocatedPack) async throws(VaultError) -> PackState {
        let pack = offer.pack
        let record = try await begin(offer)
        guard !record.isRemoved else { throw VaultError.removedMeanwhile(pack.id) }
        if record.listing > offer.listing {
            if try store.journal.hasVerified(record.listing) {
                return try await followNewerDecision(record, of: pack.id)
            }
            // The record names a listing that this store has not verified, so the present listing decides.
            try await store.record(.doubted(record.listing), of: pack.id)
        }
        try await recordForm(in: record, of: pack.id)
        if let loaded = record.loaded, loaded.pack.sha256 == pack.sha256, accepts(loaded.form) {
            if opensPacks, store.journal.hasChangedFingerprint(record) {
                try await repairChanged(loaded, as: offer)
            }
            if !opensPacks {
                try await store.record(.neededNoDownload, of: pack.id)
            } else if !record.isLoaded(pack, as: loaded.form, listedBy: offer.listing) {
                try await installer.refresh(pack, listedBy: offer.listing)
            }
            return .loaded
        }
        if opensPacks, let ready = record.ready, ready.version.pack.sha256 == pack.sha256,
            accepts(ready.version.form), store.journal.isUnchanged(ready)
        {
            observer(.transferring(pack.id))
            return try await installer.take(ready, as: pack, listedBy: offer.listing)
        }
        if let waiting = try await verifiedWaitingPack(pack, listedBy: offer.listing) {
            if record.waiting != pack || record.failure != nil {
                try await store.transfer.share(
                    waiting, of: pack, listedBy: offer.listing, space: space)
            }
            if let state = try await transferWaiting(waiting, of: pack, listedBy: offer.listing) {
                return state
            }
        }
        if let kept = try await keptPack(pack) {
            return try await transfer(kept, of: pack, listedBy: offer.listing)
        }
        let basis = try arrivalBasis(for: pack.id)
        if let state = try await stageDownload(offer, restingOn: basis) { return state }
        guard let state = try await stageDownload(offer, restingOn: basis?.careful) else {
            throw damaged(pack.id, "check the disk, and fetch the pack again")
        }
        return state
    }

    /// Downloads a pack and moves it on. Nil where what it rests on has other bytes than it should, or is gone.
    private func stageDownload(_ offer: LocatedPack, restingOn basis: ArrivalBasis?) async throws(VaultError)
        -> PackState?
    {
        guard let arrived = try await download(offer, restingOn: basis) else {
            return .downloading(bytes: 0, total: offer.pack.length)
        }
        do throws(VaultError) { return try await transferDownload(arrived, offer) } catch {
            guard error.category == .corrupt, !arrived.isWhole else { throw error }
            return nil
        }
    }

    /// Recovers the pack and, where nothing of it is here, records in the same transition that its download begins. Returns
    /// the record.
    private func begin(_ offer: LocatedPack) async throws(VaultError) -> PackRecord {
        let pack = offer.pack
        return try await store.withLock { () throws(VaultError) in
            var change = try store.recovery.recover(locked: pack.id)
            let isHere = change.record.versions.contains { $0.pack.sha256 == pack.sha256 }
            if !isHere, try store.waiting(pack.id).status(of: pack) == nil,
                try !store.layout.isKeptSealed(pack),
                change.apply(.downloadBegan(pack, listedBy: offer.listing))
            {
                try change.save()
            }
            return change.record
        }
    }

    /// Opens a pack that waits in shared storage, or is kept sealed and is to be opened now; nothing is downloaded.
    func unlock(_ id: PackID) async throws(VaultError) -> PackState {
        try await store.recovery.recover(id)
        try await acceptBroughtPack(id)
        let record = try store.records.record(of: id)
        try await recordForm(in: record, of: id)
        if let ready = record.ready, store.journal.isUnchanged(ready), await !isWithdrawn(id) {
            observer(.transferring(id))
            return try await installer.take(ready, as: ready.version.pack, listedBy: record.listing)
        }
        if let keys, let waiting = record.waiting {
            // A caller that waits for a key asks often: no file is read before the key is here.
            _ = try await keys.contentKey(of: waiting)
        }
        if record.waiting == nil, let loaded = record.loaded, !accepts(loaded.form), loaded.form == .sealed {
            guard let kept = try await keptPack(loaded.pack) else {
                throw damaged(id, "repair it, or fetch it again")
            }
            return try await transfer(kept, of: loaded.pack, listedBy: record.listing)
        }
        let state = try await followNewerDecision(record, of: id)
        if let waiting = record.waiting, try store.records.record(of: id).arriving == waiting {
            throw damaged(id, "fetch the pack: only pieces that are missing or damaged are downloaded")
        }
        return state
    }

    /// Whether the verified metadata no longer list a pack: then what of it was never live stays so.
    func isWithdrawn(_ id: PackID) async -> Bool {
        guard let storedView else { return false }
        return (try? await storedView.lists(id)) == false
    }

    /// Accepts a pack that a downloader brought, if the metadata that this store verified list exactly that one: it waits for
    /// its key from now on.
    private func acceptBroughtPack(_ id: PackID) async throws(VaultError) {
        let record = try store.records.record(of: id)
        guard !record.isRemoved else { return }
        let listed: LocatedPack?
        do throws(VaultError) { listed = try await storedView?.pack(listedAs: id) } catch {
            // A pack that was accepted before needs no listing.
            guard record.waiting != nil || record.loaded != nil, !Task.isCancelled else { throw error }
            listed = nil
        }
        if let offer = listed, offer.pack.sha256 != record.waiting?.sha256,
            offer.pack.sha256 != record.loaded?.pack.sha256, record.accepts(offer.listing),
            try store.waiting(offer.pack.id).open(offer.pack) != nil
        {
            guard let brought = try await verifiedWaitingPack(offer.pack, listedBy: offer.listing) else {
                throw damaged(id, "fetch the pack: only pieces that are missing or damaged are downloaded")
            }
            return try await store.transfer.share(
                brought, of: offer.pack, listedBy: offer.listing, space: space)
        }
        // If the app has metadata that does not list the pack, the pack does not count as waiting: another process may be bringing
        // it.
        guard try store.metadata(of: .app).pinDigest() == nil, record.loaded == nil,
            try !store.waiting(id).digests().isEmpty
        else { return }
        throw VaultError(
            .untrusted, "the downloaded pack is not the one that the verified metadata list",
            at: id.description, remedy: "fetch the pack, or give the site's root file", hint: .trustedRoot)
    }

    private func damaged(_ id: PackID, _ remedy: String) -> VaultError {
        VaultError(.corrupt, "the stored pack is damaged", at: id.description, remedy: remedy)
    }

    /// A form that was asked for is kept until another one is asked for.
    private func recordForm(in record: PackRecord, of id: PackID) async throws(VaultError) {
        guard let form, record.chosenForm != form else { return }
        try await store.record(.formChosen(form), of: id)
    }

    /// The form that a pack gets in permanent storage.
    func form(for record: PackRecord) -> PackForm {
        form ?? record.chosenForm ?? record.loaded?.form ?? .opened
    }

    /// Whether packs in this form are what the role wants.
    func accepts(_ form: PackForm) -> Bool { keys == nil || self.form == nil || form == self.form }

    /// Another process with newer metadata was faster: its decision is kept, and the pack that it left waiting is opened.
    private func followNewerDecision(_ record: PackRecord, of id: PackID) async throws(VaultError)
        -> PackState
    {
        guard let waiting = record.waiting,
            let arrived = try await verifiedWaitingPack(waiting, listedBy: record.listing),
            let state = try await transferWaiting(arrived, of: waiting, listedBy: record.listing)
        else {
            return record.loaded == nil ? .absent : .loaded
        }
        return state
    }
}
