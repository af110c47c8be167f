import AssetVault
import Foundation

/// Where the player's keys are.
struct KeyFolder {
    let path: FilePath

    /// Keeps a copy of a key file: a sealed level asks for its key at each start.
    func take(_ file: FilePath) throws(VaultError) {
        let target = path.appending(file.lastComponent?.string ?? "key")
        do {
            let bytes = try Data(contentsOf: URL(filePath: file.string))
            let isMade = FileManager.default.createFile(
                atPath: target.string, contents: bytes, attributes: [.posixPermissions: 0o600])
            guard isMade else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            throw VaultError(
                .key, "the key file can't be taken", at: file.string, remedy: "check its path")
        }
    }
}
