public import SealedPack
import Synchronization
import VaultContent
import VaultErrors
import VaultFileSystem
import VaultKeys
import VaultSite

/// What packs are called whose site hides it. Inside the library a pack has the ID that its site lists; callers give names, and get
/// them in answers, updates and errors. Without the names that is the listed ID.
extension VaultStore {
    /// The ID that the site lists a pack by: a digest where names are quiet, else the name itself.
    public func listedID(of name: PackID) -> PackID { names?.listedID(of: name) ?? name }

    /// The name of a pack; nil for one whose ID is its name, or whose name is not known.
    public func name(of id: PackID) -> PackID? { names?[listed: id]?.name }

    /// The name of a pack where it is known, else its listed ID.
    func shownID(of id: PackID) -> PackID { name(of: id) ?? id }

    func shown(_ pack: PackManifest) -> PackManifest { name(of: pack.id).map(pack.called) ?? pack }

    func shown(_ error: VaultError) -> VaultError { names?.naming(error) ?? error }

    func shown(_ update: StatusUpdate) -> StatusUpdate {
        guard let names else { return update }
        return update.named(names.shownID(of: update.id)) { names.naming($0) }
    }

    func shown(_ pack: PackAwaitingKey) -> PackAwaitingKey {
        PackAwaitingKey(
            id: shownID(of: pack.id), keyIDs: pack.keyIDs, isLocked: pack.isLocked,
            isDownloaded: pack.isDownloaded, error: shown(pack.error))
    }

    func shown(_ pack: PurgeablePack) -> PurgeablePack {
        var pack = pack
        pack.id = shownID(of: pack.id)
        return pack
    }

    /// Runs an operation whose errors are to name packs.
    nonisolated(nonsending) func naming<Value>(
        _ body: nonisolated(nonsending) () async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        do throws(VaultError) { return try await body() } catch { throw shown(error) }
    }

    /// As the app opened them last; read again when the file changed.
    private var names: PackNames? {
        guard let status = try? FileSystem.status(of: layout.names) else { return nil }
        return knownNames.withLock { known in
            if let known, known.stamp == [status.modified, Int64(clamping: status.size)] {
                return known.names
            }
            guard let stored = try? StoredNames(of: storeAccess) else { return nil }
            known = (stored.names, [status.modified, Int64(clamping: status.size)])
            return stored.names
        }
    }
}

/// The table of names of a site that hides them.
extension VaultStore {
    /// Keeps the names of the table that is loaded. Nil where none is.
    func adoptNames(with keys: (any KeyProvider)?) async throws(VaultError) -> PackNames? {
        let store = storeAccess
        let id = try PackID(PackNames.packID)
        guard let table = try await store.journal.state(of: id).loaded?.pack else { return nil }
        let earlier = try? StoredNames(of: store)
        if let earlier, earlier.digest == table.sha256 { return earlier.names }
        let bytes = try await VaultStore(layout, keys: keys).contents(of: EntryPath(PackNames.path), in: id)
        var names = try PackNames(parsing: bytes, place: id.description)
        // Another channel lists other packs; those that the store has keep their names.
        if let earlier { names.complete(by: earlier.names, for: try store.records.ids()) }
        try StoredNames(names, of: table).save(in: layout)
        return names
    }

    /// Opens the table if it waits. Returns why its key is missing.
    func unlockNames(
        by stager: PackStager, in batch: WorkQueue.Batch
    ) async throws(VaultError) -> VaultError? {
        guard let id = try await waitingTable else { return nil }
        var stager = stager
        // It is no pack of the app's.
        stager.space.observer = { _ in }
        let (_, error) = try await StagingRun(stager: stager, batch: batch).unlock([id])
        if let error, error.category != .key { throw error }
        if error == nil { _ = try await adoptNames(with: stager.keys) }
        return error
    }

    /// Opens the table if it waits for a key that the store has: offline, tags are known by it alone.
    func openWaitingNames() async {
        guard keys != nil, let id = try? await waitingTable else { return }
        _ = try? await unlock([id])
    }

    private var waitingTable: PackID? {
        get async throws(VaultError) {
            let id = try PackID(PackNames.packID)
            guard try hasStore else { return nil }
            if try await storeAccess.journal.state(of: id).waiting != nil { return id }
            return try storeAccess.waiting(id).digests().isEmpty ? nil : id
        }
    }
}
