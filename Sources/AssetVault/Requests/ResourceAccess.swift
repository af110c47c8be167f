import SealedPack
import Synchronization
package import SystemPackage
package import VaultBase
import VaultFileSystem

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.URL
#else
    import struct Foundation.URL
#endif

/// Packs that a request has in access: one tree of files by their relative paths, each version as it was when the access began.
package final class ResourceAccess: Sendable {
    let store: VaultStore
    private let held: Mutex<Held>

    private struct Held {
        var leases: [PackLease]
        /// Nil where the store can't be written.
        var note: PostedNote?
    }

    init(_ leases: [PackLease], of store: VaultStore, note: PostedNote?) {
        self.store = store
        held = Mutex(Held(leases: leases, note: note))
    }

    deinit { end() }

    /// In the order of publication; empty after the end.
    var leases: [PackLease] { held.withLock { $0.leases } }

    /// Where their files are.
    package var roots: [FilePath] { leases.map(\.root) }

    /// Frees the packs at once, although a task may still have this object. They were used until now.
    func end() {
        let ended = held.withLock { held in
            defer { held = Held(leases: [], note: nil) }
            return held
        }
        for lease in ended.leases { LastUse.noteNow(lease.listedID, in: store.layout) }
    }

    /// The pack that has a file: of several the first one, in the order of publication. What a pack has hides the same path of later
    /// ones: a folder their file, and a file what is below it. Throws `.missing`.
    private func pack(with path: EntryPath) async throws(VaultError) -> HeldPack {
        search: for lease in leases {
            switch try await store.occupant(of: path, in: lease) {
            case .file: return HeldPack(lease, in: store)
            case .other: break search
            case nil: continue
            }
        }
        throw VaultError(
            .missing, "no pack in access has this file", at: path.string,
            remedy: "check the path, or request the tag that the file has")
    }

    func contents(of path: EntryPath) async throws(VaultError) -> [UInt8] {
        try await pack(with: path).bytes(path.string)
    }

    func reader(of path: EntryPath) async throws(VaultError) -> AssetReader {
        try await pack(with: path).reader(path.string)
    }

    func url(for path: EntryPath) async throws(VaultError) -> URL {
        let pack = try await pack(with: path)
        store.noteUse(of: pack.lease)
        return try pack.url(for: path)
    }
}

extension ResourceAccess {
    /// Leaves the access to the program that this process becomes by `exec`, and ends with it.
    package func keepOpenAcrossExec(named name: String) throws(VaultError) {
        for lease in leases { try lease.staged.keepOpenAcrossExec() }
        try held.withLock { $0.note }?.keepOpenAcrossExec(named: name)
    }
}

/// What a pack has at a path.
enum PathOccupant {
    case file
    /// A folder, or a file in the place of a folder around it.
    case other
}

extension VaultStore {
    /// Nil where a version that is held has nothing at a path, or above it where only a folder may be.
    @concurrent fileprivate func occupant(
        of path: EntryPath, in lease: PackLease
    ) async throws(VaultError) -> PathOccupant? {
        switch lease.staged {
        case .tree(let tree): return try lease.occupant(of: path, in: tree)
        case .pack: return try await openPack(of: lease, place: path.string).catalog.occupant(of: path)
        }
    }
}

extension Catalog {
    fileprivate func occupant(of path: EntryPath) -> PathOccupant? {
        if hasFolder(at: path) { return .other }
        if entry(at: path) != nil { return .file }
        var above = path.parent
        while let folder = above {
            if let entry = entry(at: folder) { return entry.kind == .emptyFolder ? nil : .other }
            above = folder.parent
        }
        return nil
    }
}

/// A folder of links to all files of the packs in access, for programs that read files by their names. It is complete before anybody
/// sees it, and is removed with the object.
package final class ResourceFolder: Sendable {
    private let folder: ScratchFolder

    /// An absolute path.
    package var path: FilePath { folder.path }

    fileprivate init(_ folder: consuming ScratchFolder) { self.folder = folder }

    /// Leaves it to the program that this process becomes; the next command removes it when that has ended.
    package func keepOpenAcrossExec() throws(VaultError) { try folder.folder.keepOpenAcrossExec() }
}

/// The paths of a tree that files have so far, and the folders around them.
private struct TakenPaths {
    private var files: Set<EntryPath> = []
    private var folders: Set<EntryPath> = []

    /// False where the path is hidden by what was taken before; see ``ResourceAccess/pack(with:)``.
    mutating func take(_ path: EntryPath) -> Bool {
        guard !files.contains(path), !folders.contains(path) else { return false }
        var around: [EntryPath] = []
        var above = path.parent
        while let folder = above, !folders.contains(folder) {
            if files.contains(folder) { return false }
            around.append(folder)
            above = folder.parent
        }
        files.insert(path)
        folders.formUnion(around)
        return true
    }
}

extension ResourceAccess {
    /// Throws `.usage` for a pack that is kept sealed: programs can't read its files by their names.
    package func makeFolder() async throws(VaultError) -> ResourceFolder {
        try store.refuse(sealed: leases.filter { $0.form == .sealed }.map(\.id))
        let access = store.layout.access
        let scratch = try ScratchFolder(
            in: FilePath(URL(filePath: access.string).absoluteURL.path(percentEncoded: false)))
        var taken = TakenPaths()
        for lease in leases {
            for entry in try await store.entries(in: lease) where taken.take(entry.path) {
                let file = try lease.url(for: entry.path)
                let link = scratch.path.pushing(FilePath(entry.path.string))
                try FileSystem.createFolders(link.removingLastComponent(), permissions: 0o700)
                try Folder(opening: link.removingLastComponent()).symlink(
                    entry.path.name, target: FilePath(file.path(percentEncoded: false)))
            }
        }
        return ResourceFolder(scratch)
    }
}
