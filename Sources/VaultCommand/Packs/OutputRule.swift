import SystemPackage
import VaultErrors
import VaultFileSystem

/// Files are overwritten only when asked to, folders never.
enum OutputRule {
    /// A folder that may be made: absent, or empty.
    static func requireNewFolder(_ path: FilePath) throws(VaultError) {
        try removeAbandonedScratch(beside: path.withoutTrailingSlash)
        guard let status = try FileSystem.status(of: path, followingLinks: true) else { return }
        guard status.kind == .folder, try Folder(opening: path).names().isEmpty else {
            throw VaultError(
                .unwritable, "it exists already and is not an empty folder", at: path.string,
                remedy: "choose a new or empty folder")
        }
    }

    /// A file that may be written: absent, or a regular file that may be replaced. What earlier runs left half-done
    /// beside it is removed.
    static func requireWritableFile(_ path: FilePath, replacing: Bool) throws(VaultError) {
        try removeAbandonedScratch(beside: path)
        try DurableFile.requireWritable(path, replacing: replacing)
    }

    /// Scratch has a lock while its maker lives, so only what a killed run left goes away.
    static func removeAbandonedScratch(beside path: FilePath) throws(VaultError) {
        let folder = path.removingLastComponent()
        guard let folder = try? Folder(opening: folder.isEmpty ? "." : folder) else { return }
        _ = try? folder.removeAbandonedScratch()
    }

    static func standardOutput() throws(VaultError) -> OpenFile {
        try OpenFile(duplicating: 1, named: "standard output")
    }

    static func standardInput() throws(VaultError) -> OpenFile {
        try OpenFile(duplicating: 0, named: "standard input")
    }
}
