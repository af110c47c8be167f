public import SealedPack
public import UpdateFramework
public import VaultBase
import VaultFileSystem

/// A loaded pack that may be removed when disk space is needed, and that no request has in access.
public struct PurgeablePack: Sendable, Hashable {
    public enum Reason: String, Sendable {
        /// The app declared it purgeable.
        case declared
        /// Another variant of it serves the device.
        case replacedVariant
        /// It belongs to a resource tree, and is downloaded again when it is requested.
        case onDemand
        /// The site no longer lists it. Only `assetvault purge --withdrawn` removes packs for this reason.
        case withdrawn
    }

    public internal(set) var id: PackID
    /// Bytes that its removal frees.
    public let size: UInt64
    public let reason: Reason
    /// From 0 to 1: packs with less are removed first.
    public let preservation: Double
    /// When it was read last, to 10 seconds, or its access ended; nil for a pack that was never read.
    public let lastUse: UTCTime?
    /// Whether a running process has requested it.
    public let isOfRunningProcess: Bool

    /// The order of removal: by preservation priority, then by last use, then those that no running process has requested.
    static func goesFirst(_ left: Self, _ right: Self) -> Bool {
        if left.preservation != right.preservation { return left.preservation < right.preservation }
        let (leftUse, rightUse) = (left.lastUse ?? .earliest, right.lastUse ?? .earliest)
        if leftUse != rightUse { return leftUse < rightUse }
        if left.isOfRunningProcess != right.isOfRunningProcess { return right.isOfRunningProcess }
        return left.id < right.id
    }
}

extension PackRecord {
    /// Why the pack may be removed when disk space is needed; nil for one that stays.
    var purgeReason: PurgeablePack.Reason? {
        if isDeclaredPurgeable { return .declared }
        if isReplacedVariant { return .replacedVariant }
        guard !isKept, let offer = loaded?.pack.offer, offer.family != nil, offer.policy == .onDemand else {
            return nil
        }
        return .onDemand
    }
}

extension VaultStore {
    /// The packs that may be removed now, in the order of removal.
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
                defer { available.saturatingAdd(pack.size) }
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
        try await remove(until: free, onUpdate: onUpdate) { { _, record in record.purgeReason } }
    }

    /// Removes packs in their order, until so many bytes are free.
    ///
    /// - Parameter reasons: called once the store is recovered; gives the reason to remove a pack, or nil.
    private func remove(
        until free: UInt64?, onUpdate: @escaping @Sendable (StatusUpdate) -> Void = { _ in },
        _ reasons: () async throws(VaultError) -> (PackID, PackRecord) -> PurgeablePack.Reason?
    ) async throws(VaultError) -> [PurgeablePack] {
        guard try hasStore else { return [] }
        let store = storeAccess
        try await store.recovery.recover()
        let mark = try store.unfinishedWork.begin()
        defer { withExtendedLifetime(mark) {} }
        let space = DiskSpace(store: store, observer: { [self] in onUpdate(shown($0)) })
        let reason = try await reasons()
        let priorities = try await PreservationPriorities(of: store, choosing: choice)
        return try await store.withLock { () throws(VaultError) in
            let packs = try space.unusedPacks(by: priorities, on: layout.permanent, reason: reason)
            return try space.remove(packs, until: free, on: layout.permanent).map(shown)
        }
    }
}

/// Packs that the site no longer lists.
extension VaultStore {
    /// The loaded packs that the site no longer lists (``PackAvailability/obsolete``) and that no request has in access, also those
    /// that are not purgeable. Empty if the stored metadata are incomplete: a missing role may list them.
    package func withdrawnPacks() async throws(VaultError) -> [PurgeablePack] {
        guard try hasStore else { return [] }
        let reason = try await withdrawal()
        let priorities = try await PreservationPriorities(of: storeAccess, choosing: choice)
        return try DiskSpace(store: storeAccess)
            .unusedPacks(by: priorities, on: layout.permanent, reason: reason).map(shown)
    }

    /// Removes ``withdrawnPacks()``. They come back without being asked for if the site lists them again. Returns what was removed.
    package func purgeWithdrawn() async throws(VaultError) -> [PurgeablePack] {
        try await remove(until: nil, withdrawal)
    }

    private func withdrawal() async throws(VaultError) -> (PackID, PackRecord) -> PurgeablePack.Reason? {
        let ids = Set(try await status().filter { $0.availability == .obsolete }.map(\.listedID))
        return { id, _ in ids.contains(id) ? .withdrawn : nil }
    }
}
