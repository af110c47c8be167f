import SealedPack
import SystemPackage
public import VaultBase
public import VaultFileSystem

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
