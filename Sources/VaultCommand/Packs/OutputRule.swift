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

    /// A file that may be made: absent, or any file where `replacing`.
    static func requireNewFile(_ path: FilePath, replacing: Bool) throws(VaultError) {
        guard let status = try FileSystem.status(of: path, followingLinks: false) else { return }
        guard status.kind != .folder, replacing else {
            throw VaultError(
                .unwritable, "it exists already", at: path.string,
                remedy: status.kind == .folder
                    ? "choose another name" : "choose another name, or replace it with --force")
        }
    }

    /// A file that may be written: absent, or a regular file that may be replaced. What earlier runs left half-done
    /// beside it is removed.
    static func requireReplaceable(_ path: FilePath, replacing: Bool) throws(VaultError) {
        try removeAbandonedScratch(beside: path)
        guard let status = try FileSystem.status(of: path) else { return }
        guard status.kind == .file, replacing else {
            throw VaultError(
                .unwritable, status.kind == .file ? "it exists already" : "it exists and is no regular file",
                at: path.string,
                remedy: status.kind == .file
                    ? "choose another name, or replace it with --force" : "choose another name")
        }
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
