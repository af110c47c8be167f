import SealedPack
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// The records of all packs, as one role keeps them: one small file each, saved whole and at once. Only the holder of the
/// role's locks writes. Each role reads the other's records, and never writes them.
struct PackRecords: Sendable {
    /// Of the app's records: twice the limit of the metadata that its manifests come from.
    private static let limit = 128 << 20

    let layout: StoreLayout
    let role: StoreRole
    /// Those by which a downloader finds what the app decided on packs under other IDs.
    var names: StoredNames?

    /// The record that the role acts on; empty for a pack that was never recorded.
    func record(of id: PackID) throws(VaultError) -> PackRecord {
        completed(try record(of: id, in: role), of: id)
    }

    /// The same for one of many.
    func record(of id: PackID, within budget: inout StoreArea.Budget) throws(VaultError) -> PackRecord {
        completed(try record(of: id, in: role, within: &budget), of: id)
    }

    /// A downloader acts on the app's decisions. What the app removed under another ID is not wanted under this one either.
    func completed(_ own: PackRecord, of id: PackID) -> PackRecord {
        guard role == .downloader, let app = try? record(of: id, in: .app) else { return own }
        var record = own.merged(withAppRecord: app)
        for other in names?.otherIDs(of: id) ?? [] where !record.isRemoved {
            guard let other = try? self.record(of: other, in: .app) else { continue }
            record.isRemoved = other.isRemoved && !other.isReplacedVariant
        }
        return record
    }

    /// The record of one role.
    func record(of id: PackID, in role: StoreRole) throws(VaultError) -> PackRecord {
        let path = layout.recordPath(of: id, in: role)
        let found: [UInt8]?
        switch role {
        case .app: found = try optional(DurableFile.read(path, limit: Self.limit), ignoring: .missing)
        case .downloader: found = try layout.sharedArea.read(path, as: .record)
        }
        guard let bytes = found else { return PackRecord() }
        return try PackRecord(parsing: bytes, place: path.string)
    }

    /// The record of one role, for one of many packs: empty where the budget does not suffice for a downloader's.
    func record(
        of id: PackID, in role: StoreRole, within budget: inout StoreArea.Budget
    ) throws(VaultError) -> PackRecord {
        if role == .downloader {
            let size = try FileSystem.status(of: layout.recordPath(of: id, in: role))?.size ?? 0
            guard budget.take(Int(clamping: min(size, UInt64(StoreArea.FileKind.record.limit)))) else {
                return PackRecord()
            }
        }
        return try record(of: id, in: role)
    }

    /// Nil for a damaged record. A read error is thrown: it must not be treated as a damaged record.
    func readableRecord(of id: PackID) throws(VaultError) -> PackRecord? {
        try optional(record(of: id), ignoring: .corrupt)
    }

    /// Whether another version of a pack is loaded.
    func isUpdate(_ pack: PackManifest) -> Bool {
        loadedDigest(of: pack.id).map { $0 != pack.sha256 } ?? false
    }

    /// The digest of the version that is loaded.
    func loadedDigest(of id: PackID) -> SHA256Digest? {
        guard let record = try? record(of: id), !record.isRemoved else { return nil }
        return record.loaded?.pack.sha256
    }

    /// Saves a record as the role has it. Returns what was written.
    @discardableResult
    func save(_ record: PackRecord, of id: PackID) throws(VaultError) -> PackRecord {
        var next = record
        next.generation += 1
        let path = layout.recordPath(of: id, in: role)
        let permissions = try layout.permissions(of: role)
        switch role {
        case .app:
            try FileSystem.createFolders(path.removingLastComponent(), permissions: permissions.folders)
        case .downloader: try layout.makeShared(path.removingLastComponent())
        }
        try DurableFile.write(next.bytes.span, to: path, permissions: permissions.files, replacing: true)
        return next
    }

    /// Whether a pack was ever staged, or has any file in the store.
    private func isKnown(_ id: PackID) throws(VaultError) -> Bool {
        for path in [layout.recordPath(of: id, in: role), layout.home(of: id)]
        where try FileSystem.exists(path) {
            return true
        }
        for role in StoreRole.allCases where role != self.role {
            let folder = layout.recordFolder(of: id, in: role)
            if try layout.storeArea(of: role).openFolder(folder) != nil { return true }
        }
        return try layout.sharedArea.openFolder(layout.waiting(of: id)) != nil
    }

    /// Throws `.missing` for a pack that was never here.
    func requireKnown(_ id: PackID) throws(VaultError) {
        guard try isKnown(id) else {
            throw VaultError(
                .missing, "the store never had it", at: id.description, remedy: "check the ID with 'status'")
        }
    }

    /// The waiting packs that this role did not accept yet, of these or of all, by the digests in their names.
    func unacceptedPacks(among ids: [PackID]?) throws(VaultError) -> [PackID: Set<SHA256Digest>] {
        var found: [PackID: Set<SHA256Digest>] = [:]
        let candidates = if let ids { ids } else { try waitingIDs() }
        for id in candidates {
            let record = try? record(of: id)
            guard record?.isRemoved != true else { continue }
            let accepted = [record?.waiting?.sha256, record?.loaded?.pack.sha256].compactMap(\.self)
            let digests = try WaitingPacks(layout: layout, id: id).digests().subtracting(accepted)
            if !digests.isEmpty { found[id] = digests }
        }
        return found
    }

    /// Whether anything of a pack is left in permanent storage.
    func hasVersions(_ id: PackID) throws(VaultError) -> Bool {
        let home = layout.home(of: id)
        guard try FileSystem.exists(home) else { return false }
        return try Folder(opening: home).names().contains {
            String(decoding: $0, as: UTF8.self).hasPrefix(StoreLayout.reservedPrefix)
        }
    }

    /// The IDs of all packs with a record of this role, in order.
    func ids() throws(VaultError) -> [PackID] { try ids(of: role) }

    func ids(of role: StoreRole) throws(VaultError) -> [PackID] {
        switch role {
        case .app: try ids(below: layout.states(of: role), in: layout.permanentArea, within: .unlimited)
        case .downloader: try ids(below: layout.states(of: role), in: layout.sharedArea)
        }
    }

    /// The IDs of all packs that any role knows, in order.
    func allIDs() throws(VaultError) -> [PackID] {
        var found: Set<PackID> = []
        for role in StoreRole.allCases { found.formUnion(try ids(of: role)) }
        return found.sorted()
    }

    /// The packs that some role is downloading under this ID. Throws where that can't be read.
    func arriving(of id: PackID) throws(VaultError) -> [PackManifest] {
        var budget = StoreArea.Budget()
        return try arriving(of: id, within: &budget)
    }

    func arriving(of id: PackID, within budget: inout StoreArea.Budget) throws(VaultError) -> [PackManifest] {
        var found: [PackManifest] = []
        for role in StoreRole.allCases {
            if let pack = try record(of: id, in: role, within: &budget).arriving, !found.contains(pack) {
                found.append(pack)
            }
        }
        return found
    }

    /// The IDs of all packs that wait in shared storage, as far as they are looked at.
    func waitingIDs() throws(VaultError) -> [PackID] { try ids(below: layout.packs, in: layout.sharedArea) }

    private func ids(
        below path: FilePath, in area: StoreArea, within budget: StoreArea.Budget = StoreArea.Budget()
    ) throws(VaultError) -> [PackID] {
        var found: [PackID] = []
        var budget = budget
        try area.forEachPackFolder(below: path, within: &budget) { _, path, isPack in
            if isPack, let id = try? PackID(path) { found.append(id) }
        }
        return found.sorted()
    }
}
