import SealedPack
public import SystemPackage
public import VaultBase
public import VaultFileSystem

/// The files to seal: a folder, or an archive unpacked into a private folder that is removed with this value.
public struct PackSource: ~Copyable {
    public let folder: SourceFolder
    private let scratch: ScratchFolder?

    /// - Parameters:
    ///   - path: a folder, or any archive that libarchive reads.
    ///   - filter: selects files.
    ///   - place: archives are unpacked beside this path, into a folder of mode 0700.
    ///   - limit: how much an archive may unpack to.
    public init(
        _ path: FilePath, taking filter: SourceFilter = .all, unpackingBeside place: FilePath,
        followLinks: Bool = false, limit: UnpackingLimit = .standard
    ) throws(VaultError) {
        guard let status = try FileSystem.status(of: path, followingLinks: true) else {
            throw VaultError(
                .missing, "there is no such file or folder", at: path.string, remedy: "check the path")
        }
        guard status.kind != .folder else {
            let folder = try SourceFolder(scanning: path, filter: filter, followLinks: followLinks)
            self.init(folder: folder, scratch: nil)
            return
        }
        let scratch = try ScratchFolder(beside: place)
        let folder = try ArchiveUnpacking.unpack(path, into: scratch.path, filter: filter, limit: limit)
        self.init(folder: folder, scratch: scratch)
    }

    /// Unpacks a tar from a pipe.
    public init(
        unpacking stream: consuming OpenFile, beside place: FilePath, limit: UnpackingLimit = .standard
    ) throws(VaultError) {
        let scratch = try ScratchFolder(beside: place)
        let folder = try ArchiveUnpacking.unpack(stream: stream, into: scratch.path, limit: limit)
        self.init(folder: folder, scratch: scratch)
    }

    private init(folder: consuming SourceFolder, scratch: consuming ScratchFolder?) {
        self.folder = folder
        self.scratch = scratch
    }
}

/// The source of the files of a pack or a resource tree, and its audiences, as `vault.json` declares them.
struct DeclaredSource: Sendable {
    /// Of the pack or the tree.
    let id: PackID
    /// A folder or an archive; a relative path begins at the vault.
    let path: FilePath
    let filter: SourceFilter
    /// Whether symbolic links in a folder are followed, instead of refused.
    let followsLinks: Bool
    /// Whom new versions are sealed for, by name; empty for the vault's own keys. Of a held source only those that read it before its
    /// release.
    let audiences: [String]
    /// The same after the release.
    private let readers: [String]
    /// Whether it waits for its release.
    let isHeld: Bool
    /// For new pieces.
    let compression: Compression?
    /// What clients download first.
    let first: DeclaredFirstFiles

    init(of id: PackID, parsing json: LocatedJSON, _ audiences: Audiences) throws(VaultError) {
        self.id = id
        readers = try audiences.names(in: json)
        let early = try audiences.early(in: json)
        self.audiences = early ?? readers
        isHeld = early != nil
        path = FilePath(try json.required("source").string())
        filter = try SourceFilter(
            include: json.patterns(in: "include"), exclude: json.patterns(in: "exclude"))
        followsLinks = try json["followLinks"]?.bool() ?? false
        compression = try json.choice("compression")
        first = try DeclaredFirstFiles(parsing: json["first"])
    }

    /// The audiences that a held source is for, and is not for after its release.
    var onlyEarlyReaders: [String] {
        isHeld ? audiences.filter { $0 != Audiences.held && !readers.contains($0) } : []
    }

    /// Whom a listed version is sealed for: one that was open before the source was held stays open.
    func audiences(of version: PackManifest) -> [String] { version.offer.isHeld ? audiences : readers }

    /// Whether the next version keeps the content key of an earlier one. The readers of an open version have its key, so a held source
    /// gets another one.
    func keepsKey(of earlier: PackManifest) -> Bool { !isHeld || earlier.offer.isHeld }

    /// - Parameters:
    ///   - filter: nil for that of the declaration.
    ///   - limit: how much an archive may unpack to.
    func open(
        in vault: VaultFolder, taking filter: SourceFilter? = nil, limit: UnpackingLimit = .standard
    ) throws(VaultError) -> PackSource {
        // Never in the site: plaintext must not be uploaded, not even after a crash.
        try PackSource(
            vault.path.pushing(path), taking: filter ?? self.filter, unpackingBeside: vault.site,
            followLinks: followsLinks, limit: limit)
    }

    /// Throws `.missing` for a source that does not exist.
    func requirePresence(in vault: VaultFolder) throws(VaultError) {
        let source = vault.path.pushing(path)
        guard try FileSystem.status(of: source, followingLinks: true) == nil else { return }
        throw VaultError(
            .missing, "the source of '\(id)' does not exist", at: source.string,
            remedy: "correct its \"source\" in \(vault.settings.string)")
    }
}

extension LocatedJSON {
    /// A member that may be absent, with one of some words.
    func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ key: String
    ) throws(VaultError) -> Choice? {
        guard let value = try self[key] else { return nil }
        let name = try value.string()
        guard let choice = Choice(rawValue: name) else {
            throw value.error(
                .usage, "the \(key) '\(name)' is unknown",
                remedy: "use one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    fileprivate func patterns(in key: String) throws(VaultError) -> [String] {
        try (self[key]?.elements() ?? []).map { element throws(VaultError) in
            let pattern = try element.string()
            _ = try element.map { () throws(VaultError) in try PathPattern(pattern) }
            return pattern
        }
    }
}
