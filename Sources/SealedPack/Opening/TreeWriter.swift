import Synchronization
import SystemPackage
public import VaultBase
public import VaultFileSystem

/// Opens a pack into a folder, piece by piece in any order, from any task, over any number of attempts.
///
/// Uses folder descriptors that follow no link and creates every file, so nothing is written outside. Only verified bytes are written,
/// and nothing is ever written into a file that has another name. Memory: a byte a file and a byte a piece.
public final class TreeWriter: Sendable {
    public let source: OpenPack
    private let basis: TreeBasis?
    private let modes: TreeModes
    private let root: Folder
    private let tree: Mutex<Tree>

    private var catalog: Catalog { source.catalog }

    /// - Parameters:
    ///   - source: of which at least index and catalog are there.
    ///   - root: empty, or left by an earlier attempt to open the same pack; private to the writer.
    ///   - basis: trees of which unchanged files are linked and unchanged pieces are copied.
    /// - Throws: `.unwritable`, `.diskFull`, `.io`.
    public init(
        of source: OpenPack, into root: borrowing Folder, _ modes: TreeModes,
        restingOn basis: TreeBasis? = nil
    ) async throws(VaultError) {
        (self.source, self.basis, self.modes) = (source, basis, modes)
        self.root = try root.reopened()
        let isNew = try root.names(upTo: 1).names.isEmpty
        var tree = Tree(
            walk: try FolderWalk(below: root.reopened()), modes: modes, pieceCount: source.catalog.pieceCount)
        if isNew { tree.savedCount = 0 }
        if let basis { try tree.link(source.catalog, from: basis) }
        if !isNew { try tree.settleLinks(of: source, in: root.path, besides: basis) }
        self.tree = Mutex(tree)
        if !isNew { try await findWritten() }
    }

    /// The state of the folder, used by one task at a time.
    private struct Tree: ~Copyable {
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
    }

    /// Whether a piece need not be written: it is, or all its files are links.
    public func has(piece number: Int) -> Bool {
        guard tree.withLock({ !($0.isWritten.indices.contains(number) && $0.isWritten[number]) }) else {
            return true
        }
        return parts(ofPiece: number).isEmpty
    }

    /// Bytes of the pieces that need not be written any more, and of all.
    public var progress: (done: UInt64, total: UInt64) {
        var done: UInt64 = 0
        for number in 0..<catalog.pieceCount where has(piece: number) {
            done += UInt64(catalog.pieceRange(number).count)
        }
        return (done, catalog.contentLength)
    }

    /// The parts of files that a piece has, without those of links.
    private func parts(ofPiece number: Int) -> [(index: Int, entry: Catalog.Entry, part: Range<UInt64>)] {
        let piece = catalog.pieceRange(number)
        var found: [(index: Int, entry: Catalog.Entry, part: Range<UInt64>)] = []
        var index = catalog.firstEntry(endingAfter: piece.lowerBound)
        let links = tree.withLock { $0.isLinked }
        while let entry = catalog.entry(index), entry.content.lowerBound < piece.upperBound {
            let part = entry.content.clamped(to: piece)
            let isLink = links.indices.contains(index) && links[index]
            if !part.isEmpty, !isLink { found.append((index, entry, part)) }
            index += 1
        }
        return found
    }

    /// Opens a piece, and writes it as each of these, which are equal. Throws `.corrupt` where one of them is another one by the catalog,
    /// `.diskFull`, `.unwritable`, `.io`.
    func open(_ ciphertext: Span<UInt8>, asPieces numbers: [Int]) throws(VaultError) {
        guard let first = numbers.first else { return }
        let plain = try source.plaintext(ofPiece: first, ciphertext: ciphertext)
        for number in numbers {
            guard catalog.digestBytes(number).elementsEqual(catalog.digestBytes(first)) else {
                throw VaultError(
                    .corrupt, "the catalog has other bytes for piece \(number) than the index",
                    at: source.id.description,
                    remedy: "report it to the publisher of the pack")
            }
            try write(plain.span, asPiece: number)
        }
    }

    /// Writes the verified plaintext of a piece to its files. Throws `.corrupt` for another length, `.diskFull`, `.unwritable`, `.io`.
    private func write(_ plain: Span<UInt8>, asPiece number: Int) throws(VaultError) {
        let piece = catalog.pieceRange(number)
        guard plain.count == piece.count else {
            throw VaultError(
                .corrupt, "piece \(number) has another length than the catalog says",
                at: source.id.description,
                remedy: "report it to the publisher of the pack")
        }
        for (index, entry, part) in parts(ofPiece: number) {
            let start = Int(part.lowerBound - piece.lowerBound)
            let bytes = plain.extracting(start..<(start + part.count))
            guard part != entry.content else {
                let file = try tree.withLock { (tree) throws(VaultError) in try tree.create(entry) }
                try file.write(bytes, at: 0)
                continue
            }
            let file = try tree.withLock { (tree) throws(VaultError) in try tree.file(of: entry, at: index) }
            let offset = part.lowerBound - entry.content.lowerBound
            try file.file.write(bytes, at: offset)
            file.file.beginWritingBack(offset..<(offset + UInt64(bytes.count)))
        }
        tree.withLock { $0.isWritten[number] = true }
    }

    /// Verifies what an earlier attempt wrote.
    private func findWritten() async throws(VaultError) {
        let written = OpenedTree(root.path, of: catalog, isUnchanged: false, at: source.id.description)
        try await runInOrder(
            0..<catalog.pieceCount, memory: { 2 * self.catalog.pieceRange($0).count },
            work: { (number: Int) throws(VaultError) -> Int? in
                if self.parts(ofPiece: number).isEmpty { return nil }
                return (try? written.plaintext(ofPiece: number)) == nil ? nil : number
            },
            deliver: { number in
                // Other processes see that this one is alive: what was begun before is a download.
                self.source.pack.file.touch()
                if let number { self.tree.withLock { $0.isWritten[number] = true } }
            })
    }

    /// Writes all that is missing, from the trees of the basis, else from the pack's file, on all cores; then nobody may change the
    /// files, as far as the modes say. Throws `.corrupt` for a piece that neither has, `.diskFull`, `.unwritable`, `.io`.
    ///
    /// - Parameters:
    ///   - sealed: the pack's file if its pieces are to be freed meanwhile, so that the disk needs no room for both.
    ///   - progress: called with the bytes that are there.
    public func finish(freeing sealed: FreeablePack? = nil, progress: (UInt64) -> Void = { _ in })
        async throws(VaultError)
    {
        var number = 0
        var done: UInt64 = 0
        var unsaved: UInt64 = 0
        if let sealed { try free(sealed, upTo: (0..<catalog.pieceCount).first { !has(piece: $0) }) }
        try await runInOrder(
            next: { () throws(VaultError) -> NextInput<Int> in
                while number < catalog.pieceCount {
                    defer { number += 1 }
                    if !has(piece: number) { return .input(number) }
                    done += UInt64(catalog.pieceRange(number).count)
                }
                return .end
            },
            memory: { self.source.openingMemory(ofPiece: $0) },
            work: { (number: Int) throws(VaultError) -> Int in
                if let plain = self.basis?.plaintext(ofPiece: number) {
                    try self.write(plain.span, asPiece: number)
                } else {
                    let plain = try self.source.plaintext(ofPiece: number)
                    try self.write(plain.span, asPiece: number)
                }
                return number
            },
            deliver: { number throws(VaultError) in
                let count = UInt64(catalog.pieceRange(number).count)
                done += count
                progress(done)
                unsaved += count
                guard let sealed, unsaved >= sealed.batch else { return }
                try free(sealed, upTo: number + 1)
                unsaved = 0
            })
        progress(done)
        try tree.withLock { (tree) throws(VaultError) in
            tree.closeFiles()
            for index in 0..<catalog.entryCount {
                guard let entry = catalog.entry(index) else { continue }
                try finish(entry, isLink: tree.isLink(index), in: &tree)
            }
        }
    }

    /// Frees the pieces before `end` in the sealed file, once the tree has them on the disk.
    ///
    /// - Parameter end: the first piece that is not written; nil where all are.
    private func free(_ sealed: FreeablePack, upTo end: Int?) throws(VaultError) {
        let end = end ?? catalog.pieceCount
        do throws(VaultError) { try root.synchronizeFileSystem() } catch {
            try removeUnsaved()
            throw error
        }
        tree.withLock { $0.savedCount = end }
        guard end > 0 else { return }
        try sealed.free(upTo: source.end(ofPiece: end - 1))
    }

    /// Removes what was written since the last save, after a save failed. Those bytes can still be read, but may not be on the disk, and a
    /// second save would report success. Pieces that were freed in the sealed file stay: they were saved before.
    package func removeUnsaved() throws(VaultError) {
        let count = tree.withLock { $0.savedCount } ?? firstPieceElsewhere
        try tree.withLock { (tree) throws(VaultError) in
            tree.closeFiles()
            guard count < catalog.pieceCount else { return }
            let saved = catalog.pieceRange(count).lowerBound
            for index in catalog.firstEntry(endingAfter: saved)..<catalog.entryCount where !tree.isLink(index)
            {
                guard let entry = catalog.entry(index), entry.size > 0 else { continue }
                try tree.enter(folderOf: entry.path)
                guard try tree.walk.folder.status(of: entry.path.name) != nil else { continue }
                if entry.content.lowerBound >= saved {
                    try tree.walk.folder.unlink(entry.path.name)
                } else {
                    try tree.file(of: entry, at: index).file.truncate(to: saved - entry.content.lowerBound)
                }
            }
        }
    }

    /// The first piece that is in the pack's file or in a tree of the basis. Many are opened to find it after many were freed.
    private var firstPieceElsewhere: Int {
        (0..<catalog.pieceCount).first { number in
            basis?.has(piece: number) == true || (try? source.plaintext(ofPiece: number)) != nil
        } ?? catalog.pieceCount
    }

    /// Makes an entry without bytes, and gives a file of several pieces its permissions.
    private func finish(_ entry: Catalog.Entry, isLink: Bool, in tree: inout Tree) throws(VaultError) {
        if entry.kind == .emptyFolder {
            try tree.enter(folderOf: entry.path)
            if try tree.walk.folder.status(of: entry.path.name) == nil {
                try tree.walk.folder.createFolder(entry.path.name, permissions: modes.folders)
            }
        } else if entry.size == 0 {
            _ = try tree.create(entry)
        } else if !isLink, catalog.pieces(containing: entry.content).count > 1 {
            try tree.enter(folderOf: entry.path)
            try tree.walk.folder.openFile(entry.path.name).setPermissionsOfNew(
                modes.permissions(of: entry.kind))
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
