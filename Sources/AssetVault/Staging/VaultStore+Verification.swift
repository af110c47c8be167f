public import SealedPack
public import VaultErrors
import VaultFileSystem
import VaultKeys

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
            store: store, network: NetworkAccess(FileTransport(), in: store),
            keys: await keysOfRun(for: known), observer: { [self] in onUpdate(shown($0)) })
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
