public import SealedPack
import Synchronization
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultSite

/// The names of packs whose site has opaque names. Inside the library a pack has the ID that its site lists; callers give names,
/// and get names in answers, updates and errors. A pack whose name is not known goes by its listed ID.
///
/// After opaque names were switched on or off, or a pack moved into a resource tree, the store may have the pack under several IDs. The
/// newest listing says which ID counts; the pack is read under another ID until it is loaded under this one.
extension VaultStore {
    /// The ID that the site lists a pack by: a digest where names are opaque, else the name itself.
    public func listedID(of name: PackID) -> PackID { storedNames?.listedID(of: name) ?? name }

    /// The ID that a pack is loaded under: the listed one, or else another one. A loaded opaque ID stands only for itself.
    func presentID(of id: PackID) -> PackID {
        guard let storedNames else { return id }
        let wanted = storedNames.names[listed: id] == nil ? storedNames.listedID(of: id) : id
        return ([wanted] + storedNames.otherIDs(of: wanted)).first { (try? isLoaded($0)) == true } ?? wanted
    }

    /// All IDs that the store may have a pack under, the listed one first; for an opaque ID only that ID.
    func allIDs(of id: PackID) -> [PackID] {
        guard let storedNames, storedNames.names[listed: id] == nil else { return [id] }
        let listed = storedNames.listedID(of: id)
        return [listed] + storedNames.otherIDs(of: listed)
    }

    /// Each pack once. An ID without a file here is left out, unless it is the listed one and no other ID of the pack has a file.
    func withoutSuperseded(_ packs: [PackStatus]) -> [PackStatus] {
        let present = Set(packs.filter { $0.state != .absent }.map(\.id))
        return packs.filter { pack in
            pack.state != .absent
                || !present.contains(pack.id) && listedID(of: pack.listedID) == pack.listedID
        }
    }

    /// The name of a pack; nil for one whose ID is its name, or whose name is not known.
    public func name(of id: PackID) -> PackID? { names?[listed: id]?.name }

    /// The name of a pack where it is known, else its listed ID.
    func shownID(of id: PackID) -> PackID { name(of: id) ?? id }

    func shown(_ pack: PackManifest) -> PackManifest { name(of: pack.id).map(pack.called) ?? pack }

    func shown(_ error: VaultError) -> VaultError { names?.naming(error) ?? error }

    func shown(_ update: StatusUpdate) -> StatusUpdate {
        guard let names else { return update }
        return update.named({ names.shownID(of: $0) }, { names.naming($0) })
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

    /// Runs an operation, and puts the names of packs into its errors.
    nonisolated(nonsending) func naming<Value>(
        _ body: nonisolated(nonsending) () async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        do throws(VaultError) { return try await body() } catch { throw shown(error) }
    }

    private var names: PackNames? { storedNames?.names }

    /// The names that the app opened last; the file is read again when it has changed.
    private var storedNames: StoredNames? {
        if let viewed = viewedNames.withLock({ $0 }) { return viewed }
        guard let status = try? FileSystem.status(of: layout.names) else { return nil }
        return knownNames.withLock { known in
            if let known, known.stamp == [status.modified, Int64(clamping: status.size)] {
                return known.names
            }
            guard let stored = try? StoredNames(of: storeAccess) else { return nil }
            known = (stored, [status.modified, Int64(clamping: status.size)])
            return stored
        }
    }
}

/// The table of names of a channel that hides them.
extension VaultStore {
    /// Keeps the names of the table that is loaded; see ``loadedNames(listedBy:with:)``.
    func adoptNames(
        listedBy view: SiteView?, with keys: (any KeyProvider)?
    ) async throws(VaultError) -> StoredNames? {
        let names = try await loadedNames(listedBy: view, with: keys)
        if let names, try names != StoredNames(of: storeAccess) { try names.save(in: layout) }
        return names
    }

    /// The names of the table that is loaded, and of what is here by earlier ones. Nil where none is, or a view lists another one: it may
    /// be that of another channel.
    func loadedNames(
        listedBy view: SiteView?, with keys: (any KeyProvider)?
    ) async throws(VaultError) -> StoredNames? {
        let store = storeAccess
        let id = try PackID(PackNames.packID)
        guard let table = try await store.journal.state(of: id).loaded?.pack else { return nil }
        if let view, view.hasOpaqueNames == true,
            try await view.namesTable()?.pack.sha256 != table.sha256
        {
            return nil
        }
        let earlier = try StoredNames(of: store)
        if let earlier, earlier.digest == table.sha256 { return earlier }
        let bytes = try await VaultStore(layout, keys: keys).contents(of: EntryPath(PackNames.path), in: id)
        var names = try PackNames(parsing: bytes, place: id.description)
        // Packs that are not listed any more, or that another channel lists, keep their names.
        if let earlier { names.addFormer(of: earlier.names, for: try store.records.ids()) }
        var stored = StoredNames(names, of: table)
        stored.areOpaque = earlier?.areOpaque ?? true
        return stored
    }

    /// Opens the table if it waits, and takes the names of the stager's view. Returns the reason if the table can't be opened.
    func unlockNames(
        by stager: inout PackStager, in batch: WorkQueue.Batch
    ) async throws(VaultError) -> VaultError? {
        let failure = try await openTable(by: stager, in: batch)
        try await stager.storedView?.follow(storedNames)
        try stager.storedView?.keepNames(in: storeAccess)
        return failure
    }

    private func openTable(
        by stager: PackStager, in batch: WorkQueue.Batch
    ) async throws(VaultError) -> VaultError? {
        let waiting = try await waitingTable
        var stager = stager
        // It is not a pack of the app's.
        stager.space.observer = { _ in }
        do throws(VaultError) {
            if let waiting {
                let (_, error) = try await StagingRun(stager: stager, batch: batch).unlock([waiting])
                if let error { throw error }
            }
            // Also if a process was killed after it loaded the table.
            _ = try await adoptNames(listedBy: stager.storedView, with: stager.keys)
            return nil
        } catch {
            guard error.concernsOnePack else { throw error }
            return error.ofNames
        }
    }

    /// Opens the table if it waits for a key that the store has: offline, only the table shows the tags. Returns the reason if it
    /// can't be opened.
    func openWaitingNames() async -> VaultError? {
        guard keys != nil, let id = try? await waitingTable else { return nil }
        do throws(VaultError) { _ = try await unlock([id]) } catch { return error }
        return nil
    }

    /// - Parameter failure: of the attempt to open it, if there was one.
    func whyClosed(
        _ table: PackManifest, after failure: VaultError?
    ) async throws(VaultError) -> VaultError {
        if let failure, failure.category != .key { return failure }
        return try await whyMissing(table) ?? .closedNames(table)
    }

    /// Why the table is not here by whose names a view is read; nil where it is, or the names are known.
    func whyMissing(in view: SiteView?) async throws(VaultError) -> VaultError? {
        guard let view, view.missingNames != nil, let table = try? await view.namesTable() else { return nil }
        return try await whyMissing(table.pack)
    }

    private func whyMissing(_ table: PackManifest) async throws(VaultError) -> VaultError? {
        let loaded = try await storeAccess.journal.state(of: table.id).loaded?.pack
        if try await waitingTable != nil || loaded?.sha256 == table.sha256 { return nil }
        return VaultError(
            .missing, "it is not here", at: table.id.description, remedy: "fetch with one of its keys"
        ).ofNames
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

/// Packs that are listed by other names than before.
extension VaultStore {
    /// Applies what the app decided on packs under their other IDs to the listed IDs.
    func continueDecisions(on listed: [PackID]) async throws(VaultError) {
        guard let storedNames else { return }
        let store = storeAccess
        let known = Set(try store.records.ids())
        for (id, other) in listed.flatMap({ id in storedNames.otherIDs(of: id).map { (id, $0) } }) {
            guard known.contains(other),
                let old = try? store.records.record(of: other), old.loaded != nil || old.isRemoved,
                let own = try? store.records.record(of: id), !own.isRemoved
            else { continue }
            // It was listed before its name was known: a request would have revoked the removal under both IDs.
            if own.loaded != nil, old.isRemoved {
                try await store.removal.remove(id, .asked)
                continue
            }
            guard own.loaded == nil || !own.isDeclaredPurgeable && !own.isKept else { continue }
            try await store.record(.renamed(from: old), of: id)
        }
    }

    /// Removes packs under their other IDs where the version that the site lists is loaded, as it removes earlier versions. A
    /// version that a reader holds is removed when it is free.
    func removeSuperseded(by listed: [PackID]) async throws(VaultError) {
        guard let storedNames else { return }
        let store = storeAccess
        let known = Set(try store.records.allIDs())
        for id in listed where storedNames.listedID(of: id) == id {
            let others = storedNames.otherIDs(of: id).filter(known.contains)
            guard !others.isEmpty, try isLoaded(id), try store.records.record(of: id).waiting == nil
            else { continue }
            for other in others { try await store.removal.removeSuperseded(other) }
        }
    }
}

extension VaultError {
    /// - Parameter table: the pack with the names.
    static func closedNames(_ table: PackManifest) -> VaultError {
        let keys = table.keyIDs.map { "'\($0)'" }.listed(upTo: 4)
        return VaultError(
            .key, "the site's names are opaque, and no key was given that opens their table",
            at: table.id.description, remedy: "give one of its keys: \(keys)", hint: .givingKey)
    }

    /// An error of the table of names, without its ID, which means nothing to callers.
    var ofNames: VaultError {
        with(problem: "the site's names are opaque, and their table is not open: \(problem)")
    }
}

extension VaultClient {
    /// Downloads the table of a channel with opaque names, unless the store has its names, and opens it with its key. Without the
    /// key the table waits as any pack does. Then, and if the table fails, packs have the names that the store knows, if any.
    ///
    /// - Parameter allowance: of the whole call.
    func openNames(
        of view: inout SiteView, within allowance: TransferAllowance
    ) async throws(VaultError) {
        try await view.checkNames()
        // Their file is damaged or gone: the table that is loaded has them, also of packs that are public by now.
        if view.hasOpaqueNames == false, view.storedNames == nil {
            let keys = configuration.keys
            if let names = try? await store.loadedNames(listedBy: view, with: keys) {
                try await view.follow(names)
            }
        }
        if view.missingNames != nil {
            do throws(VaultError) { try await bringNames(of: &view, within: allowance) } catch {
                guard error.concernsOnePack else { throw error }
                // The keys that are missing are known.
                if error.category != .key { view.missingNames = error.ofNames }
            }
        }
        // The error of a pack whose name is missing because of it may come first.
        if let failure = view.missingNames, failure.category != .key {
            observer(.failed(try PackID(PackNames.packID), failure))
        }
    }

    private func bringNames(
        of view: inout SiteView, within allowance: TransferAllowance
    ) async throws(VaultError) {
        guard let table = try await view.namesTable() else { return }
        let keys = keysOfRun(for: [table])
        let stager = stager(with: keys, within: allowance)
        do throws(VaultError) {
            guard try await stager.stage(table) == .loaded,
                let names = try await store.loadedNames(listedBy: view, with: keys)
            else { return }
            try await view.follow(names)
        } catch {
            await stager.recordFailure(error, of: StagingTask(id: table.pack.id, offer: table))
            throw error
        }
    }
}
