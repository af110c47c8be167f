public import SystemPackage
import VaultContent
import VaultCrypto
public import VaultErrors
import VaultFileSystem

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
        guard status.size == entry.size, status.hardLinks == 1, status.permissions & 0o022 == 0,
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
