import Glibc
public import SystemPackage
public import VaultContent
public import VaultErrors
import VaultFileSystem

/// A folder whose files are to be packed, as it stood when it was scanned.
///
/// Only regular files and folders: a link, device, FIFO or socket, a name against the rules of
/// ``EntryPath``, and two paths that would meet on a file system that ignores letter case or
/// normalisation are refused by name. A file costs 24 bytes of memory beside its path.
public struct SourceFolder: ~Copyable, Sendable {
    /// What was found, sorted by the UTF-8 bytes of the whole path.
    public let entries: Entries
    let root: Folder
    let followLinks: Bool

    /// Looks at everything below a folder; reads no file.
    ///
    /// - Parameters:
    ///   - path: The folder; a link to it is followed.
    ///   - filter: Which files count; what it excludes is not even looked at.
    ///   - followLinks: Take what symbolic links lead to as if it stood in their place, even outside of the folder.
    /// - Throws: `.corrupt` for what can't be packed, `.missing` if there is no such folder, `.io` if
    ///   something can't be read.
    public init(
        scanning path: FilePath, taking filter: SourceFilter = .all, followLinks: Bool = false
    ) throws(VaultError) {
        try self.init(scanning: path, taking: filter, followLinks: followLinks, named: path.string)
    }

    /// - Parameter name: What errors name: the archive that was unpacked to the folder.
    init(
        scanning path: FilePath, taking filter: SourceFilter, followLinks: Bool, named name: String
    ) throws(VaultError) {
        let root = try Folder(opening: path)
        let entries = try SourceScan.run(root, taking: filter, followLinks: followLinks, named: name)
        try CollisionSearch.check(entries, of: name)
        self.root = root
        self.entries = entries
        self.followLinks = followLinks
    }
}

extension SourceFolder {
    /// One file, or one folder that holds nothing.
    public struct Entry: Sendable, Hashable {
        public enum Kind: Sendable, Hashable {
            /// A regular file; executable if its owner may execute it.
            case file(executable: Bool)
            /// A folder without entries. Other folders show in the paths of what they hold.
            case emptyFolder
        }

        public let path: EntryPath
        public let kind: Kind
        /// Bytes, 0 for a folder.
        public let size: UInt64
    }

    /// The sorted entries. Copies share one store; a path is made when its entry is asked for.
    public struct Entries: RandomAccessCollection, Sendable {
        private var paths: [UInt8] = []
        private var records: [Record] = []

        private struct Record {
            var pathStart: Int
            var size: UInt64
            var pathCount: UInt16
            var kind: Entry.Kind
        }

        public var startIndex: Int { 0 }
        public var endIndex: Int { records.count }

        public subscript(index: Int) -> Entry {
            let record = records[index]
            let path = paths[record.pathStart..<record.pathStart + Int(record.pathCount)]
            return Entry(path: EntryPath(checked: Array(path)), kind: record.kind, size: record.size)
        }
    }
}

extension SourceFolder.Entries {
    /// Adds an entry whose path, `folder` and `name`, passed the rules of ``EntryPath``.
    mutating func append(
        folder: [UInt8], name: [UInt8], kind: SourceFolder.Entry.Kind, size: UInt64
    ) {
        let start = paths.count
        paths.append(contentsOf: folder)
        paths.append(contentsOf: name)
        records.append(
            Record(pathStart: start, size: size, pathCount: UInt16(paths.count - start), kind: kind))
    }

    mutating func sort() {
        unsafe paths.withUnsafeBytes { paths in
            guard let base = paths.baseAddress else { return }
            records.sort { left, right in
                let common = Int(Swift.min(left.pathCount, right.pathCount))
                let order = unsafe memcmp(base + left.pathStart, base + right.pathStart, common)
                return order == 0 ? left.pathCount < right.pathCount : order < 0
            }
        }
    }
}
