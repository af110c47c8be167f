package import SystemPackage
package import VaultErrors
import VaultFileSystem

/// Damage that a read meets is noted in the version itself: its file gets another time, and so another ``VersionFingerprint``. The next
/// fetch reads every byte of it, and repairs it. That needs no lock, and a reader that may not change the file only fails.
extension PackLease {
    /// Runs a read of the version that is held.
    func noting<Value>(
        damageMetBy read: nonisolated(nonsending) () async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        do throws(VaultError) { return try await read() } catch {
            if error.isMetInBytes { staged.expectVerification() }
            throw error
        }
    }
}

extension VaultStore {
    /// For a program that read a sealed pack by the path of its file, and failed. A file that is not the live version of a store is left
    /// as it is.
    package static func noteDamage(of file: FilePath, metBy error: VaultError) {
        guard error.isMetInBytes, let name = file.lastComponent?.string,
            let home = try? Folder(opening: file.removingLastComponent().orCurrentFolder),
            let live = (try? home.readLink("current")) ?? nil, let version = VersionName(live.string),
            [version.text, "current"].contains(name)
        else { return }
        try? StagedVersion(version, in: home)?.expectVerification()
    }
}

extension VaultError {
    /// Damage of a file that is there: one that is missing needs no note.
    var isMetInBytes: Bool { isDamage && category != .missing }
}

extension FilePath {
    fileprivate var orCurrentFolder: FilePath { isEmpty ? "." : self }
}
