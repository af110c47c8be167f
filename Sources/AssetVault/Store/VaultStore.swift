public import SealedPack
public import SystemPackage
public import VaultArchive
public import VaultErrors
import VaultFileSystem
public import VaultKeys

/// What a client has fetched, without the site it came from: it works offline, and expired metadata means nothing to it.
public struct VaultStore: Sendable {
    let layout: StoreLayout
    private var records: PackRecords { PackRecords(layout: layout) }

    public init(_ layout: StoreLayout) { self.layout = layout }

    /// All packs that were ever staged here, in order of their IDs.
    public func status() async throws(VaultError) -> [PackStatus] {
        // Where nobody ever took the lock nothing was staged, and nothing is made.
        guard try FileSystem.exists(layout.lock) else { return [] }
        var found: [PackStatus] = []
        for (id, record) in try await PackStaging(layout: layout).survey() {
            found.append(try status(of: id, record))
        }
        return found
    }

    /// Where one pack stands; `.absent` for one that was never heard of.
    public func status(of id: PackID) async throws(VaultError) -> PackStatus {
        guard try FileSystem.exists(layout.lock) else {
            return try status(of: id, PackRecord())
        }
        let record = try await PackStaging(layout: layout).survey(id)
        return try status(of: id, record)
    }

    /// Whether a version of the pack is ready for use.
    func isLoaded(_ id: PackID) throws(VaultError) -> Bool {
        try FileSystem.status(of: layout.current(of: id), followingLinks: true) != nil
    }

    private func status(of id: PackID, _ record: PackRecord) throws(VaultError) -> PackStatus {
        var present: UInt64?
        if let arriving = record.arriving {
            present = try DownloadFile(layout: layout, pack: arriving).presentCount()
        }
        let isThere = try record.isRemoved ? records.hasVersions(id) : false
        return PackStatus(id: id, record, present: present, isThere: isThere)
    }

    /// The stable path of a pack in permanent storage: a link to its live version. Throws `.missing` before it
    /// is loaded.
    public func path(of id: PackID) throws(VaultError) -> FilePath {
        let path = layout.current(of: id)
        guard try FileSystem.status(of: path, followingLinks: true) != nil else {
            throw VaultError(
                .missing, "the pack '\(id)' is not loaded", at: path.string,
                remedy: "fetch it with its key first")
        }
        return path
    }

    /// The bytes of one file of a loaded pack. Of a sealed pack only the file's own pieces are read, and nothing is
    /// written in plain anywhere. Throws `.missing` for an unknown pack or file, `.key`, `.corrupt`.
    public func contents(of path: EntryPath, in id: PackID, keys: (any KeyProvider)? = nil)
        async throws(VaultError) -> [UInt8]
    {
        guard let loaded = try records.record(of: id).loaded else {
            throw VaultError(
                .missing, "the pack '\(id)' is not loaded", at: id.description, remedy: "fetch it first")
        }
        let version = layout.version(loaded.pack, as: loaded.form)
        guard loaded.form == .sealed else {
            return try DurableFile.read(version.appending(path.string), limit: .max)
        }
        guard let keys else {
            throw VaultError(.key, "no key was given", at: id.description, remedy: "give a key provider")
        }
        let source = try await OpenPack(try PackFile(opening: version, as: loaded.pack), keys: keys)
        guard let entry = source.catalog.entry(at: path) else {
            throw VaultError(
                .missing, "the pack '\(id)' has no such file", at: path.string, remedy: "check the path")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(min(entry.size, 16 << 20)))
        try await source.read(entry.content) { part throws(VaultError) in
            for index in part.indices { bytes.append(part[index]) }
        }
        return bytes
    }
}
