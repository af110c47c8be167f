import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// What stands under the name of a version that is to become live once more: somebody died before he could make it so, or
/// it was live before and was left to its reader.
extension PackStaging {
    /// Proves it, and removes what is not sound. Throws `.busy` while somebody holds that.
    func requireSound(
        _ pack: PackManifest, as form: PackForm, _ isSound: () async -> Bool
    ) async throws(VaultError) {
        let version = layout.version(pack, as: form)
        guard try FileSystem.exists(version), await !isSound() else { return }
        if Task.isCancelled { throw VaultError.cancelled(pack.id.description) }
        let control = try await lock()
        let home = try Folder(opening: layout.home(of: pack.id))
        guard let name = VersionName(layout.versionName(of: pack, as: form)),
            try home.readLink("current")?.string != name.text
        else { throw takenByAnotherProcess(pack) }
        let isFree = try whileFree(name, in: home) { () throws(VaultError) in try home.discardTree(name.text)
        }
        _ = consume control
        guard isFree else {
            throw VaultError(
                .busy, "a damaged copy of this version is still being read", at: version.string,
                remedy: "end who reads it, and try again")
        }
    }
}

extension PackManifest {
    /// Whether a file is this pack, by its length and its SHA-256.
    func isVerifiedVersion(by file: borrowing OpenFile) throws(VaultError) -> Bool {
        guard try file.status().size == length else { return false }
        return try file.sha256() == sha256
    }
}

extension OpenPack {
    /// Whether a folder holds just what the pack holds.
    func isSame(as tree: FilePath) async -> Bool {
        do throws(VaultError) {
            var comparison = try TreeComparison(with: tree)
            try await extract(to: &comparison)
            try comparison.finish()
            return true
        } catch { return false }
    }
}
