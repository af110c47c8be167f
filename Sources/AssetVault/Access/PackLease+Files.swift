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
                .usage, "the pack '\(id)' is kept sealed: none of its files is on the disk unencrypted",
                at: path.string, remedy: "read it with 'contents', 'reader' or 'fileDescriptor'")
        }
        return URL(filePath: root.appending(path.string).string, directoryHint: .notDirectory).absoluteURL
    }

    func openFile(_ path: EntryPath, in tree: borrowing Folder) throws(VaultError) -> OpenFile {
        let file = try follow(path.segments[...], in: tree) {
            folder, name, endsAtFile throws(VaultError) -> OpenFile? in
            endsAtFile ? try folder.openFile(name) : nil
        }
        guard let file else { throw missingFileError(at: path) }
        return file
    }

    /// What the tree has at a path; nil if nothing is there.
    func occupant(of path: EntryPath, in tree: borrowing Folder) throws(VaultError) -> PathOccupant? {
        try follow(path.segments[...], in: tree) { _, _, endsAtFile in endsAtFile ? .file : .other }
    }

    /// Follows a path folder by folder, and no link: an attacker may have put one into the tree. Nil where nothing is there.
    ///
    /// - Parameter end: is given the last folder, and the name in it at which the path ends, or a file stands in its way; and
    ///   whether it ends at a file.
    private func follow<Result: ~Copyable>(
        _ segments: ArraySlice<String>, in folder: borrowing Folder,
        to end: (_ folder: borrowing Folder, _ name: String, _ endsAtFile: Bool) throws(VaultError) -> Result?
    ) throws(VaultError) -> Result? {
        guard let name = segments.first, let kind = try folder.status(of: name)?.kind else { return nil }
        let isLast = segments.count == 1
        switch kind {
        case .file: return try end(folder, name, isLast)
        case .folder where isLast: return try end(folder, name, false)
        case .folder: return try follow(segments.dropFirst(), in: try folder.openFolder(name), to: end)
        case .link, .pipe, .socket, .device: throw foreignFileError(at: folder.path.appending(name))
        }
    }

    func foreignFileError(at path: FilePath) -> VaultError {
        VaultError(
            .corrupt, "the tree of the pack '\(id)' contains a link or special file, which no pack has",
            at: path.string,
            remedy: "remove the tree and fetch the pack again")
    }

    func missingFileError(at path: EntryPath) -> VaultError {
        VaultError(
            .missing, "the pack '\(id)' has no such file in version \(version)", at: path.string,
            remedy: "check the path")
    }
}
