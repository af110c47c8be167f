public import SealedPack
public import VaultBase
public import VaultCrypto
import VaultSite

/// The packs of the site, and their state in the store.
extension VaultClient {
    /// All packs that the site lists, in the order of their IDs; the site is asked only the first time.
    public var packs: [PackManifest] {
        get async throws(VaultError) {
            return try await currentView().select(.all, for: .allVariants).offers.map { store.shown($0.pack) }
                .sorted { $0.id < $1.id }
        }
    }

    /// Throws `.missing` for a pack that the site does not list.
    public func pack(withID id: PackID) async throws(VaultError) -> PackManifest {
        store.shown(try await currentView().pack(withID: id).pack)
    }

    /// Makes sure that a pack is ready for use.
    ///
    /// - Parameter requireLatest: asks the site for a newer version first; else any version that is loaded, or waits for a
    ///   key that is given, will do, and the network is not used.
    /// - Throws: `.key` when the pack was downloaded and its key is missing.
    public func ensureLocalAvailability(of id: PackID, requireLatest: Bool = false) async throws(VaultError) {
        try await ensureLocalAvailability(of: [id], requireLatest: requireLatest)
    }

    /// The same for several packs; all are tried before the first error is thrown.
    public func ensureLocalAvailability(of ids: [PackID], requireLatest: Bool = false)
        async throws(VaultError)
    {
        try await store.naming { () throws(VaultError) in
            try await self.ensure(ids, requireLatest)
        }
    }

    private func ensure(_ ids: [PackID], _ requireLatest: Bool) async throws(VaultError) {
        var missing = ids.map(store.listedID)
        if !requireLatest {
            missing = try await stillMissing(afterUnlocking: store.notLoaded(of: missing))
        }
        guard !missing.isEmpty else { return }
        let allowance = newAllowance
        if requireLatest { try await updateListing(within: allowance) }
        try await byNewestListing(for: missing.map(\.description).joined(separator: ", "), within: allowance)
        {
            view, _ throws(VaultError) in
            // The listing may have brought their names.
            missing = missing.map(store.listedID)
            let report = try await stage(
                select(.only(missing), in: view), listedBy: view, in: work.makeBatch(), within: allowance,
                reportingTo: LoadingTracker())
            try report.requireUnlocked()
            try await requireNoneAwaitsKey(of: missing)
            missing = try store.notLoaded(of: missing)
            return missing.isEmpty ? () : nil
        }
    }

    /// Throws `.key` for the first downloaded pack that has no loaded earlier version to use until its key is there.
    func requireNoneAwaitsKey(of ids: [PackID]) async throws(VaultError) {
        guard configuration.keys == nil else { return }
        guard let id = try await store.awaitingKey(among: store.notLoaded(of: ids)).first else { return }
        throw .awaitingKey(id)
    }

    /// Opens preloaded packs. The others are fetched from the site, which may list them for other keys by now.
    private func stillMissing(afterUnlocking ids: [PackID]) async throws(VaultError) -> [PackID] {
        let waiting = try await store.awaitingKey(among: ids)
        guard configuration.keys != nil, !waiting.isEmpty else { return ids }
        do throws(VaultError) { try await unlock(waiting) } catch {
            if Task.isCancelled { throw error }
        }
        return try store.notLoaded(of: ids)
    }

    /// Updates of the packs that are here.
    public struct Updates: Sendable, Hashable {
        /// Packs of which another version is listed than the one that is loaded or waits.
        public let updated: [PackID]
        /// Packs that are no longer listed; they stay until they are removed.
        public let withdrawn: [PackID]
    }

    /// Asks the site; only metadata are downloaded.
    public func checkForUpdates() async throws(VaultError) -> Updates {
        try await refresh()
        let offered = try await currentView().select(.all, for: .allVariants).offers.map(\.pack)
        let digests = Dictionary(offered.map { ($0.id, $0.sha256) }, uniquingKeysWith: { first, _ in first })
        var updated: [PackID] = []
        var withdrawn: [PackID] = []
        for (id, record) in try await store.brought.records() {
            guard id.description != PackNames.packID,
                let present = record.waiting ?? record.ready?.version.pack ?? record.loaded?.pack
            else { continue }
            switch digests[store.listedID(of: id)] {
            case nil: withdrawn.append(store.shownID(of: id))
            case present.sha256?: break
            case .some: updated.append(store.shownID(of: id))
            }
        }
        return Updates(updated: updated, withdrawn: withdrawn)
    }

    /// How often others may remove packs before they are ready.
    private static let attempts = 3

    /// Runs `body` with the client's view of the site, then with new views until there is a result. An old view gives none if
    /// another process has staged or removed packs by a newer one, or if the host has replaced its files.
    ///
    /// - Parameters:
    ///   - allowance: of the whole call.
    ///   - body: receives whether the view is new; returns nil if a newer one may lead to a result.
    func byNewestListing<Result>(
        for place: String, within allowance: TransferAllowance,
        _ body: (_ view: SiteView, _ isNew: Bool) async throws(VaultError) -> Result?
    ) async throws(VaultError) -> Result {
        var outdated: VaultError?
        for attempt in 0..<Self.attempts {
            let isNew = attempt > 0 || !isFollowed(view)
            if attempt > 0 {
                do throws(VaultError) { try await updateListing(within: allowance) } catch {
                    throw outdated ?? error
                }
            }
            let view = try await currentView()
            do throws(VaultError) {
                if let result = try await body(view, isNew) { return result }
            } catch {
                guard error.category == .notHosted, !isNew else { throw error }
                outdated = error
            }
        }
        throw VaultError(
            .busy, "other processes remove what it downloads", at: place, remedy: "try again")
    }

    /// Whether the view is of the channel, app version and device that the app follows now.
    private func isFollowed(_ view: SiteView?) -> Bool {
        guard let view else { return false }
        return configuration.listingChoice.completed(by: view.choice) == view.choice
    }

    func currentView() async throws(VaultError) -> SiteView {
        if let view, isFollowed(view) { return view }
        try await refresh()
        guard let view else { throw VaultError.cancelled("refresh") }
        return view
    }
}

/// Control of single packs, and of all work.
extension VaultClient {
    /// What the client may use of the network; it may be changed at any time. Downloads that are no longer allowed end, and their
    /// parts stay for the next attempt. Without a network, callers get `.unreachable`; a pack that can wait for a network that is
    /// not metered does not fail (``StatusUpdate/deferred(_:)``).
    public nonisolated var network: NetworkPolicy {
        get { configuration.network }
        set { configuration.network = newValue }
    }

    /// Pauses the work on a pack; its partial download stays. ``resume(_:)`` continues it, also in a call that is waiting.
    public nonisolated func pause(_ id: PackID) { work.pause(store.listedID(of: id)) }

    public nonisolated func resume(_ id: PackID) { work.resume(store.listedID(of: id)) }

    /// Cancels the work on a pack: callers that wait for it get an error. Its partial download stays for the next time.
    public nonisolated func cancel(_ id: PackID) { work.cancel(store.listedID(of: id)) }

    /// Removes a pack from the store. It comes back only when it is asked for by its ID, or with all. A version that a reader
    /// holds is removed when it is free.
    public func remove(_ id: PackID) async throws(VaultError) {
        cancel(id)
        try await store.remove(id)
    }

    /// Opens packs that wait in shared storage, without any network; see ``VaultStore/unlock(_:with:as:patience:onUpdate:)``.
    ///
    /// - Parameters:
    ///   - keys: pushed just now; nil asks the client's own key provider, which may know more than before. A pack that is
    ///     kept sealed is read with the client's own keys.
    ///   - form: nil for what the client's configuration says.
    ///   - patience: how long to ask for keys that are missing; the last error is reported and thrown.
    @discardableResult
    public func unlock(
        _ ids: [PackID]? = nil, with keys: (any KeyProvider)? = nil, as form: PackForm? = nil,
        patience: Duration = .zero
    ) async throws(VaultError) -> [PackID] {
        return try await store.unlock(
            ids, with: keys, as: form ?? configuration.form, patience: patience, batch: work.makeBatch(),
            observer: observer)
    }
}
