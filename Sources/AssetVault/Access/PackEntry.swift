public import SealedPack
public import VaultContent
public import VaultErrors
import VaultFileSystem

/// A file of a staged pack. Empty folders are not listed.
public struct PackEntry: Sendable, Hashable {
    public let path: EntryPath
    /// The size of the file in bytes.
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
            // Links are not followed: an attacker may have put one into the tree.
            try tree.forEachEntry { path, status throws(VaultError) in
                switch status.kind {
                case .file: found.append(PackEntry(path: try EntryPath(path), size: status.size))
                case .folder: break
                case .link, .pipe, .socket, .device:
                    throw lease.foreignFileError(at: lease.root.appending(path))
                }
            }
            return found.sorted { $0.path.utf8Bytes.lexicographicallyPrecedes($1.path.utf8Bytes) }
        case .pack: break
        }
        let catalog = try await openPack(of: lease, place: lease.id.description).catalog
        for index in 0..<catalog.entryCount {
            guard let entry = catalog.entry(index), entry.kind != .emptyFolder else { continue }
            found.append(PackEntry(path: entry.path, size: entry.size))
        }
        return found
    }
}
