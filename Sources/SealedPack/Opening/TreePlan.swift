import Synchronization
public import SystemPackage
public import VaultBase
import VaultCrypto
import VaultFileSystem

/// Creates the folders of a tree in the order of the catalog, links its unchanged files, and determines the files of each piece's
/// bytes.
struct TreePlan: ~Copyable {
    private let catalog: Catalog
    private var walk: FolderWalk
    private let modes: TreeModes
    private var links: TreeLinks?
    private var nextEntry = 0
    /// The file that continues in the next piece; nil instead of a file that is linked.
    private var unfinished: (entry: Catalog.Entry, file: OpenFileReference?)?

    init(
        of catalog: Catalog, below root: borrowing Folder, _ modes: TreeModes, linking links: consuming TreeLinks?
    ) throws(VaultError) {
        self.catalog = catalog
        self.modes = modes
        self.links = links
        walk = try FolderWalk(below: root.reopened())
    }

    /// The parts of a piece to write, none where its files are linked; must be called in the order of the pieces. Creates empty files
    /// and folders.
    mutating func parts(ofPiece number: Int) throws(VaultError) -> [TreePart] {
        let piece = catalog.pieceRange(number)
        var parts: [TreePart] = []
        var position = piece.lowerBound
        while position < piece.upperBound {
            if let (entry, file) = unfinished {
                if let file { parts.append(TreePart(entry: entry, of: piece, file: file)) }
                position = min(entry.content.upperBound, piece.upperBound)
                if position == entry.content.upperBound { unfinished = nil }
                continue
            }
            guard let (entry, isLinked) = try begin() else { throw endsInsideAFile }
            if entry.size == 0 { continue }
            if entry.content.upperBound <= piece.upperBound {
                if !isLinked { parts.append(TreePart(entry: entry, of: piece, file: nil)) }
                position = entry.content.upperBound
            } else if isLinked {
                unfinished = (entry, nil)
            } else {
                unfinished = (entry, OpenFileReference(try walk.folder.createFile(of: entry, modes)))
            }
        }
        return parts
    }

    /// Creates the empty files and folders after the last piece.
    mutating func finish() throws(VaultError) {
        guard unfinished == nil else { throw endsInsideAFile }
        while let (entry, _) = try begin() {
            guard entry.size == 0 else { throw endsInsideAFile }
        }
    }

    /// Enters the next entry's folder, and creates the entry if it is empty, or links it.
    private mutating func begin() throws(VaultError) -> (entry: Catalog.Entry, isLinked: Bool)? {
        guard let entry = catalog.entry(nextEntry) else { return nil }
        nextEntry += 1
        try walk.enter(entry.path.segments.dropLast()) { (parent, name) throws(VaultError) in
            if try parent.status(of: name) == nil {
                try parent.createFolder(name, permissions: modes.folders)
            }
            return try parent.openFolder(name)
        }
        if entry.kind == .emptyFolder {
            try walk.folder.createFolder(entry.path.name, permissions: modes.folders)
        } else if entry.size == 0 {
            _ = try walk.folder.createFile(of: entry, modes)
        } else if let isLinked = try links?.link(entry: entry, at: nextEntry - 1, into: walk.folder) {
            return (entry, isLinked)
        }
        return (entry, false)
    }

    private var endsInsideAFile: VaultError {
        VaultError(
            .corrupt, "the pack ends inside a file", at: "catalog",
            remedy: "repair the pack, or fetch it again")
    }
}

/// The part of one file in a piece.
struct TreePart: Sendable {
    private let entry: Catalog.Entry
    /// The piece's range in the stream of all files' bytes.
    private let piece: Range<UInt64>
    /// Nil for a file that is complete in this piece and created when it is written.
    private let file: OpenFileReference?

    init(entry: Catalog.Entry, of piece: Range<UInt64>, file: OpenFileReference?) {
        self.entry = entry
        self.piece = piece
        self.file = file
    }

    /// - Parameter plain: the whole piece.
    func write(_ plain: Span<UInt8>, to files: TreeFiles) throws(VaultError) {
        let part = entry.content.clamped(to: piece)
        let bytes = plain.extracting(
            Int(part.lowerBound - piece.lowerBound)..<Int(part.upperBound - piece.lowerBound))
        if let file {
            let offset = part.lowerBound - entry.content.lowerBound
            try file.file.write(bytes, at: offset)
            file.file.beginWritingBack(offset..<(offset + UInt64(bytes.count)))
        } else {
            try files.create(entry).write(bytes, at: 0)
        }
    }
}

/// Creates the files of a tree, from any task.
final class TreeFiles: Sendable {
    /// Shared: pieces are sorted, and most of them are in the folder of the previous one.
    private let walk: Mutex<FolderWalk>
    private let modes: TreeModes

    init(below root: borrowing Folder, _ modes: TreeModes) throws(VaultError) {
        self.modes = modes
        walk = Mutex(try FolderWalk(below: root.reopened()))
    }

    func create(_ entry: Catalog.Entry) throws(VaultError) -> OpenFile {
        try walk.withLock { walk throws(VaultError) in
            try walk.enter(entry.path.segments.dropLast())
            return try walk.folder.createFile(of: entry, modes)
        }
    }
}

extension Folder {
    fileprivate borrowing func createFile(of entry: Catalog.Entry, _ modes: TreeModes) throws(VaultError)
        -> OpenFile
    {
        try createFile(
            entry.path.name, permissions: entry.kind == .executable ? modes.executables : modes.files)
    }
}

/// The permissions of what is made in a tree, reduced by the umask.
public struct TreeModes: Sendable {
    let folders: UInt16
    let files: UInt16
    let executables: UInt16

    private init(files: UInt16) {
        let umask = Umask.current
        folders = umask.applied(to: 0o755)
        self.files = umask.applied(to: files)
        executables = umask.applied(to: files | 0o111)
    }

    /// Its owner may change the files.
    public static var writable: Self { Self(files: 0o644) }
    /// Nobody may change the files, which later trees may be linked to. (The superuser is not kept from it.)
    public static var readOnly: Self { Self(files: 0o444) }
}

/// Compares a folder with the pack that it was opened from: the content is the same, and no other user may change it.
/// Uses folder descriptors and follows no link. Throws `.corrupt` at the first difference.
public struct TreeComparison: ContentSink, ~Copyable {
    private var walk: FolderWalk
    private var file: OpenFile?
    private var digest = SHA256()
    /// The expected number of entries of each folder, by its path.
    private var counts: [[String]: Int] = [[]: 0]

    public init(with root: FilePath) throws(VaultError) {
        walk = try FolderWalk(below: Folder(opening: root))
    }

    public mutating func beginEntry(_ entry: Catalog.Entry) throws(VaultError) {
        let segments = entry.path.segments
        guard let name = segments.last else { return }
        count(segments, isFolder: entry.kind == .emptyFolder)
        try enter(segments.dropLast())
        guard entry.kind != .emptyFolder else { return try Self.require(try walk.folder.openFolder(name)) }
        let file = try walk.folder.openFile(name)
        let status = try file.status()
        guard status.size == entry.size, status.permissions & 0o022 == 0,
            (status.permissions & 0o100 != 0) == (entry.kind == .executable)
        else { throw Self.differs(file.path) }
        self.file = consume file
        digest = SHA256()
    }

    public mutating func write(_ bytes: Span<UInt8>) { digest.update(bytes) }

    public mutating func endEntry() throws(VaultError) {
        guard let compared = file.take() else { return }
        var written = SHA256()
        swap(&written, &digest)
        guard try compared.sha256() == written.finalize() else { throw Self.differs(compared.path) }
    }

    /// Skips the content of the current entry, which is verified by its pieces.
    mutating func skipContent() { file = nil }

    /// Throws if there are other entries than those compared.
    public consuming func finish() throws(VaultError) {
        for (segments, count) in counts {
            try enter(segments)
            guard try walk.folder.names().count == count else { throw Self.differs(walk.folder.path) }
        }
    }

    /// Counts the entry and the folders above it, each in its parent.
    private mutating func count(_ segments: [String], isFolder: Bool) {
        if isFolder, counts[segments] == nil { counts[segments] = 0 }
        var path = segments
        repeat {
            path.removeLast()
            let isKnown = counts[path] != nil
            counts[path, default: 0] += 1
            if isKnown { return }
        } while !path.isEmpty
    }

    private mutating func enter(_ segments: some Collection<String>) throws(VaultError) {
        try walk.enter(segments) { (parent, name) throws(VaultError) in
            let folder = try parent.openFolder(name)
            try Self.require(folder)
            return folder
        }
    }

    private static func require(_ folder: borrowing Folder) throws(VaultError) {
        if try folder.status().permissions & 0o022 != 0 { throw differs(folder.path) }
    }

    private static func differs(_ path: FilePath) -> VaultError {
        VaultError(
            .corrupt, "it differs from the pack", at: path.string,
            remedy: "remove the folder, and open the pack again")
    }
}
