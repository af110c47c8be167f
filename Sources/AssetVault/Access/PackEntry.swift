public import SealedPack
public import VaultContent
public import VaultErrors
import VaultFileSystem

/// A file of a staged pack.
public struct PackEntry: Sendable, Hashable {
    public let path: EntryPath
    /// Bytes of the file.
    public let size: UInt64
}

extension VaultStore {
    /// All files of a pack, in the order of their paths' bytes. A sealed pack needs its key for that.
    @concurrent public func entries(in id: PackID) async throws(VaultError) -> [PackEntry] {
        try await entries(in: try await lease(of: id))
    }

    /// All files of a version that is held.
    @concurrent public func entries(in lease: PackLease) async throws(VaultError) -> [PackEntry] {
        var found: [PackEntry] = []
        switch lease.staged {
        case .tree(let tree):
            try lease.collect(tree, below: "", into: &found)
            return found.sorted { $0.path.utf8Bytes.lexicographicallyPrecedes($1.path.utf8Bytes) }
        case .pack: break
        }
        let catalog = try await openPack(of: lease, toRead: lease.id.description).catalog
        for index in 0..<catalog.entryCount {
            guard let entry = catalog.entry(index), entry.kind != .emptyFolder else { continue }
            found.append(PackEntry(path: entry.path, size: entry.size))
        }
        return found
    }
}

extension VaultClient {
    /// All files of a pack; see ``VaultStore/entries(in:)-(PackID)``.
    public nonisolated func entries(in id: PackID) async throws(VaultError) -> [PackEntry] {
        try await store.entries(in: id)
    }
}

extension PackLease {
    /// Walks the tree folder by folder, so that a planted link leads nowhere.
    fileprivate func collect(_ folder: borrowing Folder, below prefix: String, into found: inout [PackEntry])
        throws(VaultError)
    {
        for bytes in try folder.names() {
            let name = String(decoding: bytes, as: UTF8.self)
            guard let status = try folder.status(of: name) else { continue }
            switch status.kind {
            case .file: found.append(PackEntry(path: try EntryPath(prefix + name), size: status.size))
            case .folder: try collect(try folder.openFolder(name), below: prefix + name + "/", into: &found)
            case .link, .pipe, .socket, .device: throw holdsForeign(folder.path.appending(name))
            }
        }
    }
}
