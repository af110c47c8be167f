public import SealedPack
public import SystemPackage
public import VaultBase
import VaultFileSystem

#if canImport(FoundationEssentials)
    public import struct FoundationEssentials.URL
#else
    public import struct Foundation.URL
#endif

/// One version of a pack: as long as this lives, the version stays where it is, complete, while updates put newer versions beside it.
/// Afterwards, also when the process dies, the next fetch removes a superseded version. Of sealed packs no plaintext is ever written, and
/// only the needed pieces are decrypted.
///
/// Where the file system of permanent storage has no locks, nothing is held (``isEnforced``): reads are never of mixed versions, but may
/// end with `.missing` when an update removed the version.
public struct HeldPack: Sendable {
    let lease: PackLease
    let store: VaultStore

    init(_ lease: PackLease, in store: VaultStore) { (self.lease, self.store) = (lease, store) }

    public var id: PackID { lease.id }
    public var version: UInt64 { lease.version }
    public var form: PackForm { lease.form }
    /// The opened tree's folder, or the sealed pack's file, by its own name: an update never changes what it leads to.
    public var root: FilePath { lease.root }
    /// Whether other processes can't remove the version.
    public var isEnforced: Bool { lease.isEnforced }

    /// The bytes of one file. For large files there is ``reader(_:)``.
    public func bytes(_ path: String) async throws(VaultError) -> [UInt8] {
        try await contents(of: EntryPath(path))
    }

    /// Reads ranges of one file, in little memory.
    public func reader(_ path: String) async throws(VaultError) -> AssetReader {
        try await reader(of: EntryPath(path))
    }

    /// A file descriptor to read one file by, at its start, for code that wants an open file; the caller closes it. It stays
    /// readable when the pack is removed. A file of a sealed pack is copied to memory as a whole, sealed against changes and
    /// without a name.
    public func fileDescriptor(_ path: String) async throws(VaultError) -> FileDescriptor {
        try await fileDescriptor(of: EntryPath(path))
    }

    /// The absolute URL of a file of an opened pack, valid as long as this lives. Throws `.usage` for a sealed pack, `.missing` for an
    /// unknown file.
    public func url(_ path: String) throws(VaultError) -> URL { try url(for: EntryPath(path)) }

    /// All files, in the order of their paths' bytes.
    public var files: [PackEntry] {
        get async throws(VaultError) { try await entries() }
    }

    @concurrent private func entries() async throws(VaultError) -> [PackEntry] {
        switch lease.staged {
        case .tree(let tree):
            var found: [PackEntry] = []
            // Links are not followed: an attacker may have put one into the tree.
            try tree.forEachEntry { path, status throws(VaultError) in
                switch status.kind {
                case .file: found.append(PackEntry(path: try EntryPath(path), size: status.size))
                case .folder: break
                case .link, .pipe, .socket, .device:
                    throw lease.plantedFileError(at: root.appending(path))
                }
            }
            return found.sorted { $0.path.utf8Bytes.lexicographicallyPrecedes($1.path.utf8Bytes) }
        case .pack: return try await store.openPack(of: lease, place: id.description).catalog.files
        }
    }
}

extension HeldPack {
    @concurrent func contents(of path: EntryPath) async throws(VaultError) -> [UInt8] {
        let reader = try await reader(of: path)
        return try await reader.read(0..<reader.size)
    }

    @concurrent func reader(of path: EntryPath) async throws(VaultError) -> AssetReader {
        store.noteUse(of: lease)
        switch lease.staged {
        case .tree(let tree):
            let file = try lease.openFile(path, in: tree)
            store.reads?.note(path, in: id)
            return AssetReader(path, in: lease, size: try file.status().size, .plain(file))
        case .pack: break
        }
        let pack = try await store.openPack(of: lease, place: path.string)
        guard let entry = pack.catalog.entry(at: path), entry.kind != .emptyFolder else {
            throw lease.missingFileError(at: path)
        }
        store.reads?.note(path, in: id)
        let content = ContentReader(pack, content: entry.content)
        return AssetReader(path, in: lease, size: entry.size, .sealed(pack, entry, content))
    }

    @concurrent func fileDescriptor(of path: EntryPath) async throws(VaultError) -> FileDescriptor {
        let reader = try await reader(of: path)
        switch reader.source {
        case .plain(let file): return try file.duplicated()
        case .sealed(let pack, let entry, _):
            var memory = try SealedMemory(named: FilePath(path.string))
            try await lease.noting { () throws(VaultError) in
                try await pack.read(entry.content) { part throws(VaultError) in try memory.append(part) }
            }
            return try memory.seal()
        }
    }

    func url(for path: EntryPath) throws(VaultError) -> URL {
        let url = try lease.url(for: path)
        store.reads?.note(path, in: id)
        return url
    }
}

extension VaultStore {
    /// The sealed pack of a lease, open. Throws `.key` at `place` where no keys were given.
    func openPack(of lease: PackLease, place: String) async throws(VaultError) -> OpenPack {
        guard let keys else {
            throw VaultError(
                .key, "the pack '\(lease.id)' is kept sealed, and no key was given", at: place,
                remedy: "give its key", hint: .givingKey)
        }
        return try await lease.noting { () throws(VaultError) in
            try await openPacks.pack(of: lease, keys: keys)
        }
    }
}
