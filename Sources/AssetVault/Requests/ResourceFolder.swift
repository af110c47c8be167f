import SealedPack
package import SystemPackage
import VaultContent
package import VaultErrors
import VaultFileSystem

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.URL
#else
    import struct Foundation.URL
#endif

/// A folder of links to all files of the packs in access, for programs that read files by their names. It is complete before anybody
/// sees it, and is removed with the object.
package final class ResourceFolder: Sendable {
    private let folder: ScratchFolder

    /// An absolute path.
    package var path: FilePath { folder.path }

    fileprivate init(_ folder: consuming ScratchFolder) { self.folder = folder }

    /// Leaves it to the program that this process becomes; the next command removes it when that has ended.
    package func keepOpenAcrossExec() throws(VaultError) { try folder.folder.keepOpenAcrossExec() }
}

extension ResourceAccess {
    /// Throws `.usage` for a pack that is kept sealed: its files stand nowhere in plain.
    package func makeFolder() async throws(VaultError) -> ResourceFolder {
        let access = store.layout.access
        let scratch = try ScratchFolder(
            in: FilePath(URL(filePath: access.string).absoluteURL.path(percentEncoded: false)))
        var known: Set<EntryPath> = []
        for lease in leases {
            for entry in try await store.entries(in: lease) where known.insert(entry.path).inserted {
                let file = try lease.url(for: entry.path)
                let link = scratch.path.pushing(FilePath(entry.path.string))
                try FileSystem.createFolders(link.removingLastComponent(), permissions: 0o700)
                try Folder(opening: link.removingLastComponent()).symlink(
                    entry.path.name, target: FilePath(file.path(percentEncoded: false)))
            }
        }
        return ResourceFolder(scratch)
    }
}
