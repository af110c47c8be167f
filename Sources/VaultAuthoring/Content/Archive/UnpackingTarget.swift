import SealedPack
import VaultBase
import VaultFileSystem

/// Creates an archive's files and folders below a folder, by file descriptors and through no link, so that nothing is
/// created outside. Only the owner has access: 0700 and 0600.
struct UnpackingTarget: ~Copyable {
    private let root: Folder
    /// Counted while entries are written; shared with the caller.
    let size: UnpackedByteCounter

    init(in root: consuming Folder, size: UnpackedByteCounter) {
        self.root = root
        self.size = size
    }

    /// Creates a folder and those above it, unless they exist.
    func makeFolder(_ path: EntryPath) throws(VaultError) {
        let parent = path.utf8Bytes[...]
        _ = try Self.openOrCreateFolders(parent, in: root, of: path)
    }

    /// Creates an empty file and the folders above it.
    func makeFile(_ path: EntryPath, executable: Bool) throws(VaultError) -> OpenFile {
        let permissions: UInt16 = executable ? 0o700 : 0o600
        let bytes = path.utf8Bytes
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else {
            return try Self.makeFile(bytes, in: root, permissions, of: path)
        }
        let folder = try Self.openOrCreateFolders(bytes[..<slash], in: root, of: path)
        return try Self.makeFile(Array(bytes[(slash + 1)...]), in: folder, permissions, of: path)
    }

    private static func openOrCreateFolders(
        _ names: ArraySlice<UInt8>, in folder: borrowing Folder, of path: EntryPath
    ) throws(VaultError) -> Folder {
        let slash = names.firstIndex(of: UInt8(ascii: "/")) ?? names.endIndex
        let name = Array(names[..<slash])
        let next: Folder
        switch try folder.status(of: name)?.kind {
        case .none: next = try folder.createFolder(name, permissions: 0o700)
        case .folder: next = try folder.openFolder(name)
        default: throw conflict("is in the archive as a file and as a folder", path)
        }
        return slash == names.endIndex
            ? next : try openOrCreateFolders(names[(slash + 1)...], in: next, of: path)
    }

    private static func makeFile(
        _ name: [UInt8], in folder: borrowing Folder, _ permissions: UInt16, of path: EntryPath
    ) throws(VaultError) -> OpenFile {
        switch try folder.status(of: name)?.kind {
        case .none: return try folder.createFile(name, permissions: permissions)
        case .folder: throw conflict("is in the archive as a file and as a folder", path)
        default: throw conflict("is in the archive twice", path)
        }
    }

    private static func conflict(_ problem: String, _ path: EntryPath) -> VaultError {
        VaultError(
            .corrupt, problem, at: "entry '\(path)'", remedy: "make the archive again with one of them")
    }
}
