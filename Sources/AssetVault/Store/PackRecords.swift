import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// The records of all packs: one small file each, saved whole and at once. Only the holder of the store's lock writes.
struct PackRecords: Sendable {
    /// As large as the metadata that it came from may be, twice.
    private static let limit = 128 << 20

    let layout: StoreLayout

    /// A pack that was never recorded has an empty record.
    func record(of id: PackID) throws(VaultError) -> PackRecord {
        let path = layout.state(of: id)
        let bytes: [UInt8]
        do throws(VaultError) { bytes = try DurableFile.read(path, limit: Self.limit) } catch {
            guard error.category == .missing else { throw error }
            return PackRecord()
        }
        return try PackRecord(parsing: bytes, place: path.string)
    }

    func save(_ record: PackRecord, of id: PackID) throws(VaultError) {
        var next = record
        next.generation += 1
        let path = layout.state(of: id)
        try FileSystem.createFolders(path.removingLastComponent(), permissions: 0o700)
        try DurableFile.write(next.bytes.span, to: path, permissions: 0o600, replacing: true)
    }

    /// The IDs of all packs with a record, in order.
    func ids() throws(VaultError) -> [PackID] {
        var found: [PackID] = []
        guard try FileSystem.exists(layout.states) else { return [] }
        try collect(try Folder(opening: layout.states), prefix: "", into: &found)
        return found.sorted()
    }

    private func collect(_ folder: borrowing Folder, prefix: String, into found: inout [PackID])
        throws(VaultError)
    {
        for name in try folder.names() {
            let text = String(decoding: name, as: UTF8.self)
            guard try folder.status(of: name)?.kind == .folder else {
                if text == "@record.json", let id = try? PackID(String(prefix.dropLast())) {
                    found.append(id)
                }
                continue
            }
            try collect(try folder.openFolder(name), prefix: prefix + text + "/", into: &found)
        }
    }
}
