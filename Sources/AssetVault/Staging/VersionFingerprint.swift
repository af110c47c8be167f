import SealedPack
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// The names, modes, sizes and times of a version's files, without their bytes. Recorded when the version is staged, and compared
/// at each start. It verifies nothing: if it has changed, every byte is read.
enum VersionFingerprint {
    /// Throws where a file can't be read.
    static func digest(of version: FilePath, as form: PackForm) throws(VaultError) -> SHA256Digest {
        var digest = SHA256()
        switch form {
        case .sealed:
            let bases = try PiecePlaces(beside: version)?.bases ?? []
            for file in [version] + bases.map({ version.removingLastComponent().appending($0) }) {
                guard let found = try FileSystem.status(of: file) else { throw gone(file) }
                add(found, "", to: &digest)
            }
        case .opened: try add(try Folder(opening: version), below: "", to: &digest)
        }
        return digest.finalize()
    }

    private static func add(_ folder: borrowing Folder, below prefix: String, to digest: inout SHA256)
        throws(VaultError)
    {
        for bytes in try folder.names() {
            let name = String(decoding: bytes, as: UTF8.self)
            guard let found = try folder.status(of: bytes) else { throw gone(folder.path.appending(name)) }
            add(found, prefix + name, to: &digest)
            if found.kind == .folder {
                try add(try folder.openFolder(bytes), below: prefix + name + "/", to: &digest)
            }
        }
    }

    private static func add(_ found: FileStatus, _ path: String, to digest: inout SHA256) {
        let kind = found.kind.rawValue
        let isFile = found.kind == .file
        let line =
            "\(path)\0\(kind) \(found.permissions) \(isFile ? found.size : 0) \(isFile ? found.modified : 0)\n"
        digest.update(Array(line.utf8).span)
    }

    private static func gone(_ path: FilePath) -> VaultError {
        VaultError(.missing, "it is missing", at: path.string, remedy: "fetch the pack again")
    }
}
