import SystemPackage
import VaultBase
import VaultFileSystem

/// Compares a folder with the entries of a pack, without the bytes of its files: there are the same ones, and no other user may
/// change them. Uses folder descriptors and follows no link. Throws `.corrupt` at the first difference.
struct TreeComparison: ~Copyable {
    private var walk: FolderWalk
    /// The expected number of entries of each folder, by its path.
    private var counts: [[String]: Int] = [[]: 0]

    init(with root: FilePath) throws(VaultError) {
        walk = try FolderWalk(below: Folder(opening: root))
    }

    mutating func compare(_ entry: Catalog.Entry) throws(VaultError) {
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
    }

    /// Throws if there are other entries than those compared.
    consuming func finish() throws(VaultError) {
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
