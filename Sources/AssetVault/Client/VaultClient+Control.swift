public import SealedPack
public import VaultErrors
public import VaultKeys

/// Control of single packs, and of all work.
extension VaultClient {
    /// What the client may use of the network; it may be changed at any time. Downloads that are no longer allowed end, and their parts
    /// stay for the next attempt: where there is to be no network, callers get `.unreachable`; what can wait for a network that is
    /// not metered is no failure (``StatusUpdate/deferred(_:)``).
    public nonisolated var network: NetworkUse {
        get { work.network }
        set { work.network = newValue }
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

    /// Opens packs that wait in shared storage, without any network; see ``VaultStore/unlock(_:with:as:patience:)``.
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
