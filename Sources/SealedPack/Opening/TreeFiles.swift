import SystemPackage
import VaultBase
import VaultFileSystem

/// The files of a tree that a pack is being opened into, and what is written of it; used by one task at a time.
struct TreeFiles: ~Copyable {
    var walk: FolderWalk
    let modes: TreeModes
    /// By entry; empty where nothing is linked.
    var isLinked: [Bool] = []
    /// By piece.
    var isWritten: [Bool]
    /// The first pieces that are known to be on the disk; nil until this writer has saved the tree.
    var savedCount: Int?
    /// Files of several pieces that were used last.
    private var recent: [(entry: Int, file: OpenFileReference)] = []
    private static let recentLimit = 8

    init(walk: consuming FolderWalk, modes: TreeModes, pieceCount: Int) {
        self.walk = walk
        self.modes = modes
        isWritten = Array(repeating: false, count: pieceCount)
    }

    func isLink(_ index: Int) -> Bool { isLinked.indices.contains(index) && isLinked[index] }

    /// Enters the folder of an entry, which is made if it is missing.
    mutating func enter(folderOf path: EntryPath) throws(VaultError) {
        let permissions = modes.folders
        try walk.enter(path.segments.dropLast()) { (parent, name) throws(VaultError) in
            if try parent.status(of: name) == nil {
                try parent.createFolder(name, permissions: permissions)
            }
            return try parent.openFolder(name)
        }
    }

    /// Links the unchanged files.
    mutating func link(_ catalog: Catalog, from basis: TreeBasis) throws(VaultError) {
        isLinked = Array(repeating: false, count: catalog.entryCount)
        var links = TreeLinks()
        for index in 0..<catalog.entryCount {
            guard let file = basis.file(ofEntry: index), let entry = catalog.entry(index) else {
                continue
            }
            try enter(folderOf: entry.path)
            isLinked[index] = try links.link(file, as: entry, into: walk.folder)
        }
    }

    /// Decides on files that have other names, and that this attempt did not link: no byte of them may be changed. An earlier attempt
    /// linked them, or somebody did, such as a program that makes backups. They are removed, unless they have pieces that are nowhere
    /// else, because these were freed in the pack: then a complete one stays, as a link.
    ///
    /// - Throws: `.unwritable` for an incomplete one with a piece that is nowhere else.
    mutating func settleLinks(of source: OpenPack, in root: FilePath, besides basis: TreeBasis?)
        throws(VaultError)
    {
        let catalog = source.catalog
        let written = OpenedTree(root, of: source)
        // By piece, since files share them: whether it is sound here, and nowhere else.
        var known: [(isSound: Bool, isOnlyCopy: Bool)?] = Array(repeating: nil, count: catalog.pieceCount)
        func look(at piece: Int) throws(VaultError) -> (isSound: Bool, isOnlyCopy: Bool) {
            if let found = known[piece] { return found }
            if Task.isCancelled { throw VaultError.cancelled(source.id.description) }
            // Other processes see that this one is alive.
            source.pack.file.touch()
            let isSound = (try? written.plaintext(ofPiece: piece)) != nil
            let isOnlyCopy =
                isSound && basis?.has(piece: piece) != true
                && (try? source.plaintext(ofPiece: piece)) == nil
            known[piece] = (isSound, isOnlyCopy)
            return (isSound, isOnlyCopy)
        }
        // Removed at the end: the pieces of a file may be in others, too.
        var unneeded: [Catalog.Entry] = []
        for index in 0..<catalog.entryCount where !isLink(index) {
            guard let entry = catalog.entry(index), entry.size > 0 else { continue }
            try enter(folderOf: entry.path)
            guard let found = try walk.folder.status(of: entry.path.name), found.kind == .file,
                found.hardLinks > 1
            else { continue }
            var (isOnlyCopy, isComplete) = (false, found.size == entry.size)
            for piece in catalog.pieces(containing: entry.content) {
                let state = try look(at: piece)
                isOnlyCopy = isOnlyCopy || state.isOnlyCopy
                isComplete = isComplete && state.isSound
            }
            guard isOnlyCopy else {
                unneeded.append(entry)
                continue
            }
            guard isComplete else {
                throw VaultError(
                    .unwritable, "it has another name, so it can't be completed",
                    at: walk.folder.path.appending(entry.path.name).string,
                    remedy: "remove its other name, or replace it by a copy")
            }
            if isLinked.isEmpty { isLinked = Array(repeating: false, count: catalog.entryCount) }
            isLinked[index] = true
            try walk.folder.openFile(entry.path.name).setPermissionsOfNew(
                modes.permissions(of: entry.kind))
        }
        for entry in unneeded {
            try enter(folderOf: entry.path)
            try walk.folder.unlink(entry.path.name)
        }
    }

    /// A new file for all bytes of an entry.
    mutating func create(_ entry: Catalog.Entry) throws(VaultError) -> OpenFile {
        try enter(folderOf: entry.path)
        let permissions = modes.permissions(of: entry.kind)
        do throws(VaultError) {
            return try walk.folder.createFile(entry.path.name, permissions: permissions)
        } catch {
            // An earlier attempt left it incomplete.
            guard try walk.folder.status(of: entry.path.name)?.isOnlyFile == true else { throw error }
            try walk.folder.unlink(entry.path.name)
            return try walk.folder.createFile(entry.path.name, permissions: permissions)
        }
    }

    /// The file of an entry of several pieces; its owner may write to it until ``TreeWriter/finish()``.
    mutating func file(of entry: Catalog.Entry, at index: Int) throws(VaultError) -> OpenFileReference {
        if let known = recent.last(where: { $0.entry == index }) { return known.file }
        try enter(folderOf: entry.path)
        let file: OpenFileReference
        if let found = try walk.folder.status(of: entry.path.name) {
            guard found.isOnlyFile else {
                throw VaultError(
                    .corrupt, "it was put there while the pack was opened", at: walk.folder.path.string,
                    remedy: "remove it, and try again")
            }
            // An attempt that had all of the file closed it.
            if found.permissions & 0o200 == 0 {
                try walk.folder.openFile(entry.path.name).setPermissionsOfNew(0o600)
            }
            file = OpenFileReference(try walk.folder.updateFile(entry.path.name))
        } else {
            file = OpenFileReference(try walk.folder.createFile(entry.path.name, permissions: 0o600))
        }
        if recent.count == Self.recentLimit { recent.removeFirst() }
        recent.append((index, file))
        return file
    }

    mutating func closeFiles() { recent = [] }

    /// Makes the entries without bytes, and gives files of several pieces their permissions.
    mutating func finish(_ catalog: Catalog) throws(VaultError) {
        closeFiles()
        for index in 0..<catalog.entryCount {
            guard let entry = catalog.entry(index) else { continue }
            if entry.kind == .emptyFolder {
                try enter(folderOf: entry.path)
                if try walk.folder.status(of: entry.path.name) == nil {
                    try walk.folder.createFolder(entry.path.name, permissions: modes.folders)
                }
            } else if entry.size == 0 {
                _ = try create(entry)
            } else if !isLink(index), catalog.pieces(containing: entry.content).count > 1 {
                try enter(folderOf: entry.path)
                try walk.folder.openFile(entry.path.name).setPermissionsOfNew(
                    modes.permissions(of: entry.kind))
            }
        }
    }
}

extension FileStatus {
    /// A file with a single name.
    fileprivate var isOnlyFile: Bool { kind == .file && hardLinks == 1 }
}

/// The permissions of what is made in a tree, reduced by the umask.
public struct TreeModes: Sendable {
    let folders: UInt16
    private let files: UInt16
    private let executables: UInt16

    private init(files: UInt16) {
        let umask = Umask.current
        folders = umask.applied(to: 0o755)
        self.files = umask.applied(to: files)
        executables = umask.applied(to: files | 0o111)
    }

    func permissions(of kind: PackEntryKind) -> UInt16 { kind == .executable ? executables : files }

    /// Its owner may change the files.
    public static var writable: Self { Self(files: 0o644) }
    /// Nobody may change the files, which later trees may be linked to. (The superuser is not kept from it.)
    public static var readOnly: Self { Self(files: 0o444) }
}
