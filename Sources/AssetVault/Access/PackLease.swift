import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.URL
#else
    import struct Foundation.URL
#endif

/// The lock that holds one version of a pack; see ``HeldPack``.
final class PackLease: Sendable {
    let id: PackID
    /// As the site lists it; see ``VaultStore/listedID(of:)``.
    let listedID: PackID
    let version: UInt64
    let form: PackForm
    let root: FilePath
    let isEnforced: Bool
    let staged: StagedVersion

    /// How long to try again while updates are faster.
    private static let patience = Duration.seconds(10)

    /// The version that is live. Throws `.missing` where the pack is not loaded.
    static func acquire(_ id: PackID, named name: PackID, in layout: StoreLayout) async throws(VaultError)
        -> PackLease
    {
        let deadline = ContinuousClock.now + patience
        var lost: String?
        while true {
            guard let home = try optional(Folder(opening: layout.home(of: id)), ignoring: .missing),
                let target = try layout.liveName(of: id, in: home)
            else { throw .notLoaded(name, at: layout.current(of: id)) }
            guard let version = VersionName(target.string) else {
                throw VaultError(
                    .corrupt, "it does not lead to a version of the pack", at: layout.current(of: id).string,
                    remedy: "remove it and fetch the pack again")
            }
            if let staged = try StagedVersion(version, in: home) {
                let isLocked = try? staged.tryLock(exclusive: false)
                // It may have been removed, or even replaced, before it was locked.
                if isLocked != false, try staged.isStill(version, in: home) {
                    return PackLease(
                        id, named: name, version.version, version.form,
                        root: home.path.appending(version.text), staged, isEnforced: isLocked != nil)
                }
            } else {
                // An update was faster, unless `current` still names it.
                guard lost != version.text else { throw .notLoaded(name, at: layout.current(of: id)) }
                lost = version.text
            }
            guard ContinuousClock.now < deadline else {
                throw VaultError(
                    .busy, "the version is being changed", at: home.path.appending(version.text).string,
                    remedy: "try again")
            }
            try await pause(for: .milliseconds(1), at: id.description)
        }
    }

    /// A source folder in the place of an opened pack; see ``Vault/init(folder:)``.
    convenience init(ofSource folder: FilePath, named id: PackID) throws(VaultError) {
        self.init(
            id, named: id, 0, .opened, root: folder, .tree(try Folder(opening: folder)), isEnforced: false)
    }

    private init(
        _ listedID: PackID, named id: PackID, _ version: UInt64, _ form: PackForm, root: FilePath,
        _ staged: consuming StagedVersion, isEnforced: Bool
    ) {
        (self.id, self.listedID) = (id, listedID)
        (self.version, self.form) = (version, form)
        self.root = root
        self.staged = staged
        self.isEnforced = isEnforced
    }

    deinit { staged.unlock() }

    /// Whether the version is still the live one.
    func isLive(in layout: StoreLayout) throws(VaultError) -> Bool {
        guard let home = try optional(Folder(opening: layout.home(of: listedID)), ignoring: .missing) else {
            return false
        }
        return try layout.liveName(of: listedID, in: home)?.string == root.lastComponent?.string
    }
}

extension PackLease {
    func url(for path: EntryPath) throws(VaultError) -> URL {
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
        case .link, .pipe, .socket, .device: throw plantedFileError(at: folder.path.appending(name))
        }
    }

    func plantedFileError(at path: FilePath) -> VaultError {
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
