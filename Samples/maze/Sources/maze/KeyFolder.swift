import AssetVault
import Foundation

/// The folder of the player's keys.
struct KeyFolder {
    let path: FilePath

    /// Keeps a copy of a key file: a sealed level asks for its key at each start.
    func take(_ file: FilePath) async throws(VaultError) {
        // Throws if it is not a valid key file.
        _ = try await FileKeyProvider(path: file).allKeys()
        do {
            let bytes = try Data(contentsOf: URL(filePath: file.string))
            let copy = try FileDescriptor.open(
                target(), .writeOnly, options: [.create, .exclusiveCreate], permissions: .ownerReadWrite)
            try copy.closeAfter { _ = try copy.writeAll(bytes) }
        } catch {
            throw VaultError(
                .io, "the key can't be kept", at: path.string, remedy: "free some space, or make it writable")
        }
    }

    /// An unused file name.
    private func target() -> FilePath {
        var number = 1
        while FileManager.default.fileExists(atPath: path.appending("key-\(number).jwks").string) {
            number += 1
        }
        return path.appending("key-\(number).jwks")
    }
}
