public import SystemPackage
import VaultArchive
import VaultCrypto
public import VaultErrors
import VaultFileSystem

/// Proves a folder by the pack that it was opened from: it holds exactly the same. Throws `.corrupt` at the first
/// difference, `.missing` for what is not there.
public struct TreeComparison: ContentSink, ~Copyable {
    private let root: FilePath
    private var file: (path: EntryPath, size: UInt64)?
    private var digest = SHA256()
    private var fileCount = 0

    public init(with root: FilePath) { self.root = root }

    public mutating func beginEntry(_ entry: Catalog.Entry) throws(VaultError) {
        let status = try FileSystem.status(of: root.appending(entry.path.string))
        let isSame =
            switch entry.kind {
            case .emptyFolder: status?.kind == .folder
            case .file, .executable:
                status?.kind == .file && status?.size == entry.size
                    && (status.map { $0.permissions & 0o100 != 0 } == (entry.kind == .executable))
            }
        guard isSame else { throw differs(entry.path) }
        guard entry.kind != .emptyFolder else { return }
        file = (entry.path, entry.size)
        fileCount += 1
        digest = SHA256()
    }

    public mutating func write(_ bytes: Span<UInt8>) { digest.update(bytes) }

    public mutating func endEntry() throws(VaultError) {
        guard let (path, _) = file else { return }
        file = nil
        var other = SHA256()
        swap(&other, &digest)
        let found = try OpenFile(reading: root.appending(path.string)).sha256()
        guard other.finalize() == found else { throw differs(path) }
    }

    /// Once all entries are compared: whether there is anything else.
    public func finish() throws(VaultError) {
        guard try Self.fileCount(below: try Folder(opening: root)) == fileCount else {
            throw VaultError(
                .corrupt, "it holds more than the pack", at: root.string, remedy: "remove it")
        }
    }

    /// Links and the like count, too.
    private static func fileCount(below folder: borrowing Folder) throws(VaultError) -> Int {
        var count = 0
        for name in try folder.names() {
            let isFolder = try folder.status(of: name)?.kind == .folder
            count += isFolder ? try fileCount(below: try folder.openFolder(name)) : 1
        }
        return count
    }

    private func differs(_ path: EntryPath) -> VaultError {
        VaultError(
            .corrupt, "it differs from the pack", at: root.appending(path.string).string,
            remedy: "remove the folder, and open the pack again")
    }
}
