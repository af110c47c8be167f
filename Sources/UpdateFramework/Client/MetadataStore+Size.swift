public import VaultErrors
import VaultFileSystem

extension MetadataStore {
    /// Bytes of the metadata that were downloaded and count now: the lengths of all roles' files, and of roots after the pinned one,
    /// which came with the program.
    public func downloadedBytes() throws(VaultError) -> UInt64 {
        let folder = try Folder(opening: folder)
        var sum: UInt64 = 0
        for name in try folder.names().map({ String(decoding: $0, as: UTF8.self) })
        where name.hasSuffix(".json") && name != MetadataRole.root.fileName {
            guard let found = try folder.status(of: name), found.kind == .file else { continue }
            sum += min(found.size, .max - sum)
        }
        for version in try storedRoots.versions().sorted().dropFirst() {
            guard let root = try storedRoots.root(version: version) else { continue }
            sum += min(UInt64(root.count), .max - sum)
        }
        return sum
    }
}
