public import SealedPack
public import VaultBase
public import VaultCrypto
import VaultFileSystem
import VaultSite
import VaultTransport

/// Changes of a store that need no site.
extension VaultStore {
    /// Opens packs that wait in shared storage, without any network. A pack whose key is not there yet stays.
    ///
    /// - Parameters:
    ///   - ids: the packs; nil for all that wait.
    ///   - keys: pushed just now; nil asks the store's own provider, which may know more than before.
    ///   - form: nil leaves a pack in the form of its earlier version, and opens a new pack.
    ///   - patience: how long to ask the provider again for keys that it does not have yet.
    ///   - onUpdate: called with each update, from any task.
    /// - Returns: what is loaded by that.
    /// - Throws: the first error, when all were tried; `.key` where a key is still missing, `.corrupt` where what waited
    ///   is damaged, `.missing` for a pack of `ids` that neither waits nor is loaded. That the table of opaque names is not here
    ///   is only reported (``StatusUpdate/failed(_:_:)``): packs are opened without it, under their listed IDs.
    @discardableResult
    public func unlock(
        _ ids: [PackID]? = nil, with keys: (any KeyProvider)? = nil, as form: PackForm? = nil,
        patience: Duration = .zero, onUpdate: @escaping @Sendable (StatusUpdate) -> Void = { _ in }
    ) async throws(VaultError) -> [PackID] {
        try await unlock(
            ids, with: keys, as: form, patience: patience, batch: WorkQueue(width: 1).makeBatch(.urgent),
            observer: { [self] in onUpdate(shown($0)) })
    }

    func unlock(
        _ ids: [PackID]?, with pushed: (any KeyProvider)?, as form: PackForm?, patience: Duration,
        batch: WorkQueue.Batch, observer: @escaping Observer
    ) async throws(VaultError) -> [PackID] {
        guard let keys = pushed ?? self.keys else {
            throw VaultError(
                .key, "no key was given", at: "unlock", remedy: "give the packs' keys", hint: .givingKey)
        }
        // If the lock was never taken, no pack waits, and nothing is created.
        guard try hasStore else {
            if let id = ids?.first { throw nothingWaits(of: id) }
            return []
        }
        let store = storeAccess
        let deadline = ContinuousClock.now + patience
        let isLastAttempt = AwaitableValue(false)
        let observer: Observer = { update in
            // A key that may still come is not reported as missing.
            if case .failed(_, let error) = update, error.category == .key, !isLastAttempt.value { return }
            observer(update)
        }
        var stager = PackStager(
            store: store, network: NetworkGate(FileTransport(), in: store), keys: keys, form: form,
            observer: observer)
        stager.storedView = try await storedSite.view(
            listing: try store.records.unacceptedPacks(
                among: ids.map { ids throws(VaultError) in
                    try ids.flatMap(allIDs) + [PackID(PackNames.packID)]
                }))
        try await store.recovery.recover()
        let waiting = try await stager.unopenedIDs(among: ids?.flatMap(allIDs))
        let asked = CachingKeyProvider(
            keys, reservingFor: await stager.storedView?.packs(listedAs: waiting).ownKeyIDs ?? [])
        stager.keys = asked
        var loaded: [PackID] = []
        var missingNames: VaultError?
        while true {
            // Begun after the deadline, so that it reports every missing key.
            isLastAttempt.change { $0 = ContinuousClock.now >= deadline }
            // Within an attempt the provider is asked once for each key, and in all attempts for the same ones.
            await asked.forgetAnswers()
            // If the table fails, only that pack fails: the others are opened, with the names that are already known.
            let closedNames = try await unlockNames(by: &stager, in: batch)
            if closedNames == nil, missingNames == nil,
                let missing = try await whyMissing(in: stager.storedView)
            {
                missingNames = missing
                observer(.failed(try PackID(PackNames.packID), missing))
            }
            let waiting = try await stager.unopenedIDs(among: ids?.flatMap(allIDs))
                .filter { closedNames == nil || $0.description != PackNames.packID }
            try await continueDecisions(on: waiting)
            let (together, sets) = try await stager.sets(of: waiting)
            stager.sets = PackSets(sets)
            let (opened, failure) = try await StagingRun(stager: stager, batch: batch).unlock(together)
            loaded += opened.map(shownID)
            // Also where one was killed after a pack was loaded.
            try? await removeSuperseded(by: ids?.map(listedID) ?? store.records.ids())
            if failure == nil, let view = stager.storedView, !view.isWhole(in: store) {
                await view.noteReadable(in: store, unlessBehind: listedPacksOfLoaded(in: view))
            }
            let absent = try notLoaded(of: ids?.map(listedID) ?? []).first
            let asksForNames = ids?.contains { $0.description == PackNames.packID } ?? true
            guard let error = failure ?? (asksForNames || absent != nil ? closedNames : nil) else {
                guard let absent else { return loaded }
                throw missingNames ?? nothingWaits(of: shownID(of: absent))
            }
            guard error.category == .key, !isLastAttempt.value else { throw shown(error) }
            try await pause(for: .milliseconds(250), at: "unlock")
        }
    }

    /// The packs that are loaded, as a state of the site lists them.
    private func listedPacksOfLoaded(in view: SiteView) async -> [PackManifest] {
        let records = storeAccess.records
        var packs: [PackManifest] = []
        for id in (try? records.ids()) ?? [] where records.loadedDigest(of: id) != nil {
            if let pack = try? await view.pack(listedAs: id)?.pack { packs.append(pack) }
        }
        return packs
    }

    private func nothingWaits(of id: PackID) -> VaultError {
        VaultError(
            .missing, "the store has no waiting pack of this ID", at: id.description, remedy: "fetch it")
    }

    /// Removes a pack from the store. It comes back only when it is asked for by its ID, or with all. A version that a reader
    /// holds is removed when it is free. Throws `.missing` for a pack that was never here.
    public func remove(_ id: PackID) async throws(VaultError) {
        try await naming { () throws(VaultError) in
            let ids = allIDs(of: id)
            if !ids.contains(where: { (try? storeAccess.records.requireKnown($0)) != nil }) {
                try storeAccess.records.requireKnown(ids[0])
            }
            try await storeAccess.recovery.recover()
            for id in ids { try await storeAccess.removal.remove(id, .asked) }
        }
    }

    /// Allows a pack to be removed when a download or an opening needs disk space and no reader holds it. Throws
    /// `.missing` for a pack that is not loaded.
    public func declarePurgeable(_ id: PackID) async throws(VaultError) {
        try await setPurgeable(id, true)
    }

    /// Takes ``declarePurgeable(_:)`` back, and keeps an on-demand pack of a resource tree: the pack stays until it is removed.
    public func keep(_ id: PackID) async throws(VaultError) {
        try await setPurgeable(id, false)
    }

    private func setPurgeable(_ id: PackID, _ isPurgeable: Bool) async throws(VaultError) {
        let (store, id) = (storeAccess, presentID(of: id))
        try store.records.requireKnown(id)
        _ = try path(of: id)
        try await store.recovery.recover()
        let workMark = try store.unfinishedWork.begin()
        defer { withExtendedLifetime(workMark) {} }
        try await store.record(.declared(isPurgeable: isPurgeable), of: id)
    }
}

/// The result of verifying a loaded pack.
public struct PackCondition: Sendable, Hashable {
    public enum Finding: Sendable, Hashable {
        case sound
        /// Its bytes have changed, and how: ``VaultClient/repair(_:)`` fetches what is damaged.
        case damaged(String)
        /// It is opened, and its key, which is needed to verify its files, is missing.
        case unverified(String)
    }

    public let id: PackID
    public let version: UInt64
    public let form: PackForm
    public let finding: Finding
}

extension VaultStore {
    /// Reads every byte of the loaded packs, without the site: sealed ones without any key, opened ones with theirs. Nothing
    /// is changed.
    ///
    /// - Parameter ids: the packs to look at; nil for all that are loaded.
    /// - Throws: `.missing` for a pack of `ids` that is not loaded.
    public func verify(
        _ ids: [PackID]? = nil, onUpdate: @escaping @Sendable (StatusUpdate) -> Void = { _ in }
    ) async throws(VaultError) -> [PackCondition] {
        guard try hasStore else {
            if let id = ids?.first { _ = try path(of: id) }
            return []
        }
        let store = storeAccess
        let known = if let ids { ids.map(presentID) } else { try store.records.ids() }
        let stager = PackStager(
            store: store, network: NetworkGate(FileTransport(), in: store),
            keys: await keysOfRun(for: known), observer: { [self] in onUpdate(shown($0)) })
        await stager.announceVerification(of: known)
        var found: [PackCondition] = []
        for id in known {
            guard let loaded = try await store.journal.state(of: id).loaded else {
                if ids != nil { _ = try path(of: id) }
                continue
            }
            found.append(
                PackCondition(
                    id: shownID(of: id), version: loaded.pack.version, form: loaded.form,
                    finding: try await stager.finding(in: loaded)))
        }
        return found
    }

    /// The store's keys for a run over some packs, each asked for once.
    func keysOfRun(for ids: [PackID]) async -> (any KeyProvider)? {
        guard let keys else { return nil }
        let view = try? await storedSite.view()
        return CachingKeyProvider(keys, reservingFor: await view?.packs(listedAs: ids).ownKeyIDs ?? [])
    }
}

extension PackStager {
    fileprivate func finding(in loaded: PackRecord.Loaded) async throws(VaultError) -> PackCondition.Finding {
        do throws(VaultError) {
            return try await damage(to: loaded).map { .damaged($0.problem) } ?? .sound
        } catch {
            guard error.category == .key else { throw error }
            return .unverified(error.problem)
        }
    }
}
