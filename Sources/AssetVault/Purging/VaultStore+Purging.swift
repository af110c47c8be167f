public import VaultErrors
import VaultFileSystem

extension VaultStore {
    /// The packs that may be removed now, in the order in which they go.
    ///
    /// - Parameter free: only those that ``purge(until:onUpdate:)`` would remove; nil for all.
    public func purgeablePacks(untilFree free: UInt64? = nil) async throws(VaultError) -> [PurgeablePack] {
        guard try hasStore else { return [] }
        let store = storeAccess
        let priorities = try await PreservationPriorities(of: store, choosing: choice)
        let packs = try DiskSpace(store: store).purgeablePacks(by: priorities, on: layout.permanent)
        guard let free else { return packs.map(shown) }
        var available = try FileSystem.availableSpace(at: layout.permanent)
        return Array(
            packs.prefix { pack in
                defer { available += min(pack.size, .max - available) }
                return available < free
            }.map(shown))
    }

    /// Removes purgeable packs, in their order, until so many bytes are free on the disk of permanent storage. They come back when
    /// they are requested.
    ///
    /// - Parameters:
    ///   - free: nil removes all of them.
    ///   - onUpdate: receives what was removed, from any task.
    /// - Returns: what was removed.
    @discardableResult
    public func purge(
        until free: UInt64?, onUpdate: @escaping @Sendable (StatusUpdate) -> Void = { _ in }
    ) async throws(VaultError) -> [PurgeablePack] {
        guard try hasStore else { return [] }
        let store = storeAccess
        try await store.recovery.recover()
        let mark = try store.recovery.beginWork()
        defer { withExtendedLifetime(mark) {} }
        let space = DiskSpace(store: store, observer: { [self] in onUpdate(shown($0)) })
        let priorities = try await PreservationPriorities(of: store, choosing: choice)
        return try await store.withLock { () throws(VaultError) in
            try space.remove(
                space.purgeablePacks(by: priorities, on: layout.permanent), until: free, on: layout.permanent
            ).map(shown)
        }
    }
}
