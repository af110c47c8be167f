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

/// The paths of a tree that files have so far, and the folders around them.
private struct TakenPaths {
    private var files: Set<EntryPath> = []
    private var folders: Set<EntryPath> = []

    /// False where the path is hidden by what was taken before; see ``ResourceAccess/lease(with:)``.
    mutating func take(_ path: EntryPath) -> Bool {
        guard !files.contains(path), !folders.contains(path) else { return false }
        var around: [EntryPath] = []
        var above = path.parent
        while let folder = above, !folders.contains(folder) {
            if files.contains(folder) { return false }
            around.append(folder)
            above = folder.parent
        }
        files.insert(path)
        folders.formUnion(around)
        return true
    }
}

extension ResourceAccess {
    /// Throws `.usage` for a pack that is kept sealed: programs can't read its files by their names.
    package func makeFolder() async throws(VaultError) -> ResourceFolder {
        try store.refuse(sealed: leases.filter { $0.form == .sealed }.map(\.id))
        let access = store.layout.access
        let scratch = try ScratchFolder(
            in: FilePath(URL(filePath: access.string).absoluteURL.path(percentEncoded: false)))
        var taken = TakenPaths()
        for lease in leases {
            for entry in try await store.entries(in: lease) where taken.take(entry.path) {
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
