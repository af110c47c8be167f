public import SystemPackage
import VaultArchive
public import VaultErrors
import VaultFileSystem

/// Writes entries below one folder, which must be new and private to the writer. Every step goes through folder
/// descriptors that follow no link, and every file is created anew, so nothing is ever written elsewhere.
public struct TreeSink: ContentSink, ~Copyable {
    private let root: FilePath
    /// The folder of the entry before: neighbours share it.
    private var folder: Folder
    private var folderSegments: [String] = []
    private var file: OpenFile?
    private var offset: UInt64 = 0

    public init(into root: FilePath) throws(VaultError) {
        self.root = root
        folder = try Folder(opening: root)
    }

    public mutating func beginEntry(_ entry: Catalog.Entry) throws(VaultError) {
        var segments = entry.path.segments
        guard let name = segments.popLast() else { return }
        try enter(segments)
        switch entry.kind {
        case .emptyFolder: try folder.createFolder(name, permissions: 0o755)
        case .file: file = try folder.createFile(name, permissions: 0o644)
        case .executable: file = try folder.createFile(name, permissions: 0o755)
        }
        offset = 0
    }

    public mutating func write(_ bytes: Span<UInt8>) throws(VaultError) {
        try file?.write(bytes, at: offset)
        offset += UInt64(bytes.count)
    }

    public mutating func endEntry() throws(VaultError) {
        file = nil
    }

    /// Walks from the root again only when the folder changes.
    private mutating func enter(_ segments: [String]) throws(VaultError) {
        guard !segments.elementsEqual(folderSegments, by: { $0.utf8.elementsEqual($1.utf8) }) else { return }
        folder = try Folder(opening: root)
        for segment in segments {
            if try folder.status(of: segment) == nil { try folder.createFolder(segment, permissions: 0o755) }
            folder = try folder.openFolder(segment)
        }
        folderSegments = segments
    }
}
