public import PackSources
public import SystemPackage
public import VaultErrors
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
