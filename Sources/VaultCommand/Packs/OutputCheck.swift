import SystemPackage
import VaultErrors
import VaultFileSystem

/// Checks of outputs: files are overwritten only when asked to, folders never.
enum OutputCheck {
    /// Throws unless the folder is absent or empty.
    static func requireNewFolder(_ path: FilePath) throws(VaultError) {
        try removeAbandonedScratch(beside: path.withoutTrailingSlash)
        guard let status = try FileSystem.status(of: path, followingLinks: true) else { return }
        guard status.kind == .folder, try Folder(opening: path).names().isEmpty else {
            throw VaultError(
                .unwritable, "it exists already and is not an empty folder", at: path.string,
                remedy: "choose a new or empty folder")
        }
    }

    /// Throws unless the file is absent, or a regular file that may be replaced. Scratch that killed runs left beside
    /// it is removed.
    static func requireWritableFile(_ path: FilePath, replacing: Bool) throws(VaultError) {
        try removeAbandonedScratch(beside: path)
        try DurableFile.requireWritable(path, replacing: replacing)
    }

    /// A living process has its scratch locked, so only abandoned scratch is removed.
    static func removeAbandonedScratch(beside path: FilePath) throws(VaultError) {
        let folder = path.removingLastComponent()
        guard let folder = try? Folder(opening: folder.isEmpty ? "." : folder) else { return }
        _ = try? folder.removeAbandonedScratch()
    }
}
