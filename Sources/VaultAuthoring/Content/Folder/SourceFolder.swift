import Glibc
public import SealedPack
public import SystemPackage
public import VaultBase
public import VaultFileSystem

/// A scanned folder whose files are to be packed.
///
/// Contains only regular files and folders: a link, device, FIFO or socket, a name against the rules of `EntryPath`,
/// and paths that collide on a file system that ignores letter case or normalisation are refused by name. A file needs
/// 24 bytes of memory and its path.
public struct SourceFolder: ~Copyable, Sendable {
    /// The entries, sorted by the UTF-8 bytes of the whole path.
    public let entries: Entries
    let root: Folder
    let followLinks: Bool

    /// Scans everything below a folder; reads no file.
    ///
    /// - Parameters:
    ///   - path: The folder; a link to it is followed.
    ///   - filter: Selects the files; what it leaves out may be of any kind. A link that is not followed counts by its own path.
    ///   - followLinks: Use the targets of symbolic links, even outside of the folder.
    /// - Throws: `.corrupt` for an entry that can't be packed, `.missing` if there is no such folder, `.io` if
    ///   something can't be read.
    public init(
        scanning path: FilePath, filter: SourceFilter = .all, followLinks: Bool = false
    ) throws(VaultError) {
        try self.init(scanning: path, filter: filter, followLinks: followLinks, named: path.string)
    }

    /// - Parameter name: The name in errors, such as the unpacked archive.
    init(
        scanning path: FilePath, filter: SourceFilter, followLinks: Bool, named name: String
    ) throws(VaultError) {
        let root = try Folder(opening: path)
        let entries = try SourceScan.run(root, filter: filter, followLinks: followLinks, named: name)
        try CollisionSearch.check(entries, of: name)
        self.init(root: root, entries: entries, followLinks: followLinks)
    }

    private init(root: consuming Folder, entries: Entries, followLinks: Bool) {
        self.root = root
        self.entries = entries
        self.followLinks = followLinks
    }

    /// The same folder with only some of its entries.
    ///
    /// - Parameter positions: among the entries, ascending by path.
    public func part(_ positions: [Int]) throws(VaultError) -> SourceFolder {
        SourceFolder(root: try root.reopened(), entries: entries.part(positions), followLinks: followLinks)
    }

    /// The same folder, with other paths for some of its entries; several may have one path. Entries keep their positions.
    ///
    /// - Parameter paths: by position.
    /// - Throws: `.corrupt` for different paths that collide on a file system that ignores letter case or normalisation.
    public func renamed(_ paths: [Int: EntryPath]) throws(VaultError) -> SourceFolder {
        let renamed = entries.renamed(paths)
        if !paths.isEmpty {
            try CollisionSearch.check(renamed.sortedWithoutDuplicates, of: root.path.string)
        }
        return SourceFolder(root: try root.reopened(), entries: renamed, followLinks: followLinks)
    }
}

extension SourceFolder {
    /// One file or empty folder.
    public struct Entry: Sendable, Hashable {
        public enum Kind: Sendable, Hashable {
            /// A regular file; executable if its owner may execute it.
            case file(executable: Bool)
            /// A folder without entries. Other folders follow from the paths of their entries.
            case emptyFolder
        }

        /// By which it is packed.
        public let path: EntryPath
        /// Where it is in the folder.
        public let source: EntryPath
        public let kind: Kind
        /// Bytes, 0 for a folder.
        public let size: UInt64
    }

    /// The sorted entries. Copies share their storage; paths are created on access.
    public struct Entries: RandomAccessCollection, Sendable {
        private var paths: [UInt8] = []
        private var records: [Record] = []

        private struct Record {
            var pathStart: Int
            var size: UInt64
            var pathLength: UInt16
            /// Of the path in the folder, which precedes the other one; 0 where it is the same.
            var sourceLength: UInt16 = 0
            var kind: Entry.Kind
        }

        public var startIndex: Int { 0 }
        public var endIndex: Int { records.count }

        public subscript(index: Int) -> Entry {
            let record = records[index]
            let start = record.pathStart
            let path = EntryPath(checked: Array(paths[start..<start + Int(record.pathLength)]))
            let source =
                record.sourceLength == 0
                ? path : EntryPath(checked: Array(paths[start - Int(record.sourceLength)..<start]))
            return Entry(path: path, source: source, kind: record.kind, size: record.size)
        }
    }
}

extension SourceFolder.Entries {
    /// Adds an entry whose path, `folder` and `name`, is checked.
    mutating func append(
        folder: [UInt8], name: [UInt8], kind: SourceFolder.Entry.Kind, size: UInt64
    ) {
        let start = paths.count
        paths.append(contentsOf: folder)
        paths.append(contentsOf: name)
        records.append(
            Record(pathStart: start, size: size, pathLength: UInt16(paths.count - start), kind: kind))
    }

    func part(_ positions: [Int]) -> SourceFolder.Entries {
        var part = SourceFolder.Entries()
        part.paths = paths
        part.records = positions.map { records[$0] }
        return part
    }

    func renamed(_ names: [Int: EntryPath]) -> SourceFolder.Entries {
        var renamed = self
        for (position, path) in names {
            let source = self[position].source
            guard source != path else { continue }
            renamed.paths += source.utf8Bytes
            renamed.records[position].pathStart = renamed.paths.count
            renamed.records[position].pathLength = UInt16(path.utf8Bytes.count)
            renamed.records[position].sourceLength = UInt16(source.utf8Bytes.count)
            renamed.paths += path.utf8Bytes
        }
        return renamed
    }

    /// Sorted by path, and one entry of each path.
    var sortedWithoutDuplicates: SourceFolder.Entries {
        var sorted = self
        sorted.sort()
        let paths = sorted.paths
        var last: ArraySlice<UInt8>?
        sorted.records.removeAll { record in
            let path = paths[record.pathStart..<record.pathStart + Int(record.pathLength)]
            defer { last = path }
            return path == last
        }
        return sorted
    }

    mutating func sort() {
        unsafe paths.withUnsafeBytes { paths in
            guard let base = paths.baseAddress else { return }
            records.sort { left, right in
                let common = Int(Swift.min(left.pathLength, right.pathLength))
                let order = unsafe memcmp(base + left.pathStart, base + right.pathStart, common)
                return order == 0 ? left.pathLength < right.pathLength : order < 0
            }
        }
    }
}

/// Opens the files of a source, fastest in the order of its entries.
public struct SourceReader: ~Copyable, Sendable {
    private let root: FilePath
    private let followLinks: Bool
    private var walk: FolderWalk

    public init(of source: borrowing SourceFolder) throws(VaultError) {
        root = source.root.path
        followLinks = source.followLinks
        walk = try FolderWalk(below: source.root.reopened())
    }

    /// Opens an entry's file for reading: folder by folder, through no link unless links are followed.
    ///
    /// - Throws: `.io` if the file's size has changed since the scan, `.corrupt` if it is not a file any more,
    ///   `.missing` if it was removed.
    public mutating func open(_ entry: SourceFolder.Entry) throws(VaultError) -> OpenFile {
        let file =
            try followLinks ? OpenFile(reading: root.appending(entry.source.string)) : find(entry.source)
        guard try file.status().size == entry.size else {
            throw VaultError(
                .io, "the file changed its size while it was packed", at: file.path.string,
                remedy: "try again when nothing writes to it")
        }
        return file
    }

    private mutating func find(_ path: EntryPath) throws(VaultError) -> OpenFile {
        try walk.enter(path.segments.dropLast())
        return try walk.folder.openFile(path.name)
    }
}
