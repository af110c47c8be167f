import SystemPackage
public import VaultContent
public import VaultErrors
import VaultFileSystem

#if canImport(FoundationEssentials)
    public import struct FoundationEssentials.URL
#else
    public import struct Foundation.URL
#endif

extension PackLease {
    /// The absolute URL of a file of an opened pack, valid as long as the lease lives. Throws `.usage` for a sealed pack, `.missing`
    /// for an unknown file.
    public func url(for path: EntryPath) throws(VaultError) -> URL {
        switch staged {
        case .tree(let tree): _ = try openFile(path, in: tree)
        case .pack:
            throw VaultError(
                .usage, "the pack '\(id)' is kept sealed: none of its files stands anywhere in plain",
                at: path.string, remedy: "read it with 'contents', 'reader' or 'fileDescriptor'")
        }
        return URL(filePath: root.appending(path.string).string, directoryHint: .notDirectory).absoluteURL
    }

    /// Opens a file of the tree, folder by folder, so that no link is followed: an attacker may have put one
    /// into the tree.
    func openFile(_ path: EntryPath, in tree: borrowing Folder) throws(VaultError) -> OpenFile {
        try openFile(path.segments[...], of: path, in: tree)
    }

    private func openFile(
        _ segments: ArraySlice<String>, of path: EntryPath, in folder: borrowing Folder
    ) throws(VaultError) -> OpenFile {
        guard let name = segments.first, let kind = try folder.status(of: name)?.kind else {
            throw missingFileError(at: path)
        }
        let isLast = segments.count == 1
        switch kind {
        case .file where isLast: return try folder.openFile(name)
        case .folder where !isLast:
            return try openFile(segments.dropFirst(), of: path, in: try folder.openFolder(name))
        case .file, .folder: throw missingFileError(at: path)
        case .link, .pipe, .socket, .device: throw foreignFileError(at: folder.path.appending(name))
        }
    }

    /// What the tree has at a path; nil for nothing.
    func occupant(of path: EntryPath, in tree: borrowing Folder) throws(VaultError) -> PathOccupant? {
        try occupant(of: path.segments[...], in: tree)
    }

    private func occupant(
        of segments: ArraySlice<String>, in folder: borrowing Folder
    ) throws(VaultError) -> PathOccupant? {
        guard let name = segments.first, let kind = try folder.status(of: name)?.kind else { return nil }
        let isLast = segments.count == 1
        switch kind {
        case .file: return isLast ? .file : .other
        case .folder where isLast: return .other
        case .folder: return try occupant(of: segments.dropFirst(), in: try folder.openFolder(name))
        case .link, .pipe, .socket, .device: throw foreignFileError(at: folder.path.appending(name))
        }
    }

    func foreignFileError(at path: FilePath) -> VaultError {
        VaultError(
            .corrupt, "the tree of the pack '\(id)' holds what no pack holds", at: path.string,
            remedy: "remove the tree and fetch the pack again")
    }

    func missingFileError(at path: EntryPath) -> VaultError {
        VaultError(
            .missing, "the pack '\(id)' has no such file in version \(version)", at: path.string,
            remedy: "check the path")
    }
}
