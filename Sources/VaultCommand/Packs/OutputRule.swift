import SystemPackage
import VaultErrors
import VaultFileSystem

/// Files are overwritten only when asked to, folders never.
enum OutputRule {
    /// A folder that may be made: absent, or empty.
    static func requireNewFolder(_ path: FilePath) throws(VaultError) {
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

    static func standardOutput() throws(VaultError) -> OpenFile {
        try OpenFile(duplicating: 1, named: "standard output")
    }

    static func standardInput() throws(VaultError) -> OpenFile {
        try OpenFile(duplicating: 0, named: "standard input")
    }
}
