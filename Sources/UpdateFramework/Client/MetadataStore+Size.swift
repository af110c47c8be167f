import SystemPackage
import VaultBytes
public import VaultErrors
import VaultFileSystem

extension MetadataStore {
    /// Bytes of the metadata that were downloaded and count now: the lengths of the files of a verified chain's roles, and of roots
    /// after the pinned one, which came with the program. Other files there do not count, and none by more than it may have.
    public func downloadedBytes(of chain: TrustChain) throws(VaultError) -> UInt64 {
        let roles = [MetadataRole.timestamp, .snapshot, .targets] + chain.snapshot.delegatedRoles
        var files = roles.map { (path: folder.appending($0.fileName), limit: $0.sizeLimit) }
        for version in try storedRoots.versions().dropFirst() where version <= chain.root.version {
            files.append((storedRoots.path(of: version), MetadataRole.root.sizeLimit))
        }
        var sizes: [UInt64] = []
        for (path, limit) in files {
            sizes.append(min(try FileSystem.status(of: path)?.size ?? 0, UInt64(clamping: limit)))
        }
        return sizes.saturatingSum { $0 }
    }
}
