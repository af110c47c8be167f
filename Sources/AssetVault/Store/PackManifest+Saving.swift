import SealedPack
import StrictJSON
import SystemPackage
import VaultErrors
import VaultFileSystem

/// The manifest beside each file or tree with a final name, so that it explains itself.
extension PackManifest {
    var savedBytes: [UInt8] { JSONValue.object(json).compact() }

    /// Writes the manifest beside a pack or an opened tree, durably.
    func save(beside file: FilePath) throws(VaultError) {
        try DurableFile.write(
            savedBytes.span, to: PackManifestFile.path(beside: file), permissions: 0o644, replacing: true)
    }

    /// Whether just this manifest is beside a pack or an opened tree.
    func isSaved(beside file: FilePath) -> Bool {
        let bytes = savedBytes
        return (try? DurableFile.read(PackManifestFile.path(beside: file), limit: bytes.count)) == bytes
    }

    /// Whether a file is this pack, by its length and its SHA-256.
    func isVerified(by file: borrowing OpenFile) throws(VaultError) -> Bool {
        try file.hasContent(length: length, sha256)
    }
}
