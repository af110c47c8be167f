import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

/// The file of one pack in ephemeral storage: `SHA256.part` while it is downloaded, `SHA256.avpack` once it is complete and
/// verified. The process that works on it holds its lock, which dies with its process. A stalled process keeps the lock, so no
/// other one ever writes to that file: another process uses a file of its own (``takeOver()``).
struct DownloadFile {
    let layout: StoreLayout
    let pack: PackManifest

    /// The file, locked: a finished one, one that an earlier attempt left, or a new one. Throws `.busy` while another
    /// process, or another task, has it. The folder must be there.
    func claim() throws(VaultError) -> OpenFileReference {
        let finished = layout.finishedDownload(of: pack)
        if try FileSystem.exists(finished) { return try claim(finished) }
        let partial = try claim(layout.partialDownload(of: pack))
        // Another process finished since the check above: this file is new, and not needed.
        if try FileSystem.exists(finished) {
            try FileSystem.removeFile(partial.file.path)
            throw isTaken
        }
        return partial
    }

    /// A file of this process's own, locked, where the owner of the first one is stalled. The other files are sources of pieces,
    /// and the process that completes first names its file as finished.
    func takeOver() throws(VaultError) -> OpenFileReference {
        for place in layout.partialDownloads(of: pack).dropFirst() {
            do throws(VaultError) {
                if try isLeftByAnotherUser(place) { try FileSystem.discard(place) }
                return try claim(place)
            } catch {
                guard error.category == .busy else { throw error }
            }
        }
        throw isTaken
    }

    /// The finished file of a stalled owner, verified again; nil where there is none.
    func finishedFile() throws(VaultError) -> OpenFileReference? {
        let path = layout.finishedDownload(of: pack)
        guard let found = try FileSystem.status(of: path), try EphemeralName.isReadable(found, at: path)
        else {
            return nil
        }
        do throws(VaultError) {
            let file = OpenFileReference(try OpenFile(reading: path))
            return try pack.isVerified(by: file.file) ? file : nil
        } catch {
            guard [.missing, .corrupt].contains(error.category) || found.mayBeClosed else { throw error }
            return nil
        }
    }

    /// Whether the first file belongs to another user and no process works on it: it need not be waited for.
    var isLeftByAnotherUser: Bool {
        get throws(VaultError) {
            let finished = layout.finishedDownload(of: pack)
            let first = try FileSystem.exists(finished) ? finished : layout.partialDownload(of: pack)
            return try isLeftByAnotherUser(first)
        }
    }

    /// Whether any file of the download belongs to another user.
    var belongsToAnotherUser: Bool {
        layout.downloads(of: pack).contains { path in
            guard let found = try? FileSystem.status(of: path) else { return false }
            return !EphemeralName.isOurs(found)
        }
    }

    /// A file that can't be opened is not a download: files of the other role are readable by the group.
    private func isLeftByAnotherUser(_ path: FilePath) throws(VaultError) -> Bool {
        guard let found = try FileSystem.status(of: path), !EphemeralName.isOurs(found) else { return false }
        return !isLocked(path)
    }

    /// Whether a process has a file locked.
    private func isLocked(_ path: FilePath) -> Bool {
        do throws(VaultError) {
            return try !EphemeralName.lockableFile(path).tryLock(exclusive: true)
        } catch {
            // It is not known whether one has.
            return error.isOpenFileLimit
        }
    }

    /// Whether another process works on a file after this one: it continued because this one's owner was stalled.
    func isTakenOver(from place: FilePath) -> Bool {
        let places = layout.partialDownloads(of: pack)
        let own = places.firstIndex(of: place) ?? places.endIndex
        return places.dropFirst(own + 1).contains(where: isLocked)
    }

    /// Whether a process works on any file of the download.
    var isInUse: Bool { layout.downloads(of: pack).contains(where: isLocked) }

    /// When any file of the download was changed last, by any process; nil where there is none.
    func lastChange() throws(VaultError) -> Int64? {
        var last: Int64?
        for path in layout.downloads(of: pack) {
            guard let found = try FileSystem.status(of: path) else { continue }
            last = max(last ?? .min, found.modified)
        }
        return last
    }

    private func claim(_ path: FilePath) throws(VaultError) -> OpenFileReference {
        try EphemeralName.discardFileOfAnotherUser(path)
        let found = try FileSystem.status(of: path)
        // Another user's file is only read from.
        if let found, !EphemeralName.isOurs(found) { throw isTaken }
        let isThere = found != nil
        let file: OpenFile
        do throws(VaultError) {
            file =
                isThere
                ? try OpenFile(updating: path)
                : try OpenFile(creating: path, permissions: AreaPermissions(of: layout.ephemeral).files)
        } catch {
            // Another process made or moved the file meanwhile.
            throw try FileSystem.exists(path) == isThere ? error : isTaken
        }
        // The process that had the lock may have moved or removed the file.
        guard try file.tryLock(exclusive: true), try file.isStill(at: path) else { throw isTaken }
        return OpenFileReference(file)
    }

    /// Gives the complete, verified and saved file its name, before the store's lock is acquired.
    func finish(_ file: OpenFileReference) throws(VaultError) -> OpenFileReference {
        let path = layout.finishedDownload(of: pack)
        if file.file.path != path {
            try FileSystem.move(file.file.path, to: path, replacing: true)
            try Folder(opening: layout.ephemeral).synchronize()
        }
        // The same open file, and with it the lock, by its new name.
        return OpenFileReference(try OpenFile(duplicating: file.file.descriptor, named: path))
    }

    /// How much of the pack is in ephemeral storage, whichever role downloads it.
    enum Arrival {
        /// Bytes on the disk: a hint for status and progress.
        case partial(UInt64)
        case whole
    }

    /// Bytes that have not arrived.
    var missingCount: UInt64 {
        get throws(VaultError) {
            switch try arrival() {
            case .whole: 0
            case .partial(let count): pack.length - min(count, pack.length)
            case nil: pack.length
            }
        }
    }

    /// Nil when there is no download. A finished one is known by its name and length: its bytes are verified when it is used.
    func arrival() throws(VaultError) -> Arrival? {
        let finished = layout.finishedDownload(of: pack)
        if let found = try FileSystem.status(of: finished), found.size == pack.length,
            try EphemeralName.isReadable(found, at: finished)
        {
            return .whole
        }
        var most: UInt64?
        for path in layout.partialDownloads(of: pack) {
            // The next download removes a file of another user that can't be read.
            guard let found = try FileSystem.status(of: path),
                try EphemeralName.isReadable(found, at: path)
            else { continue }
            do throws(VaultError) {
                let file = try OpenFile(reading: path)
                let count = try file.dataRanges(in: 0..<pack.length).reduce(0) { $0 + UInt64($1.count) }
                most = max(most ?? 0, count)
            } catch {
                guard error.category == .missing || found.mayBeClosed else { throw error }
            }
        }
        guard let most else { return nil }
        return .partial(min(pack.length, most + countInTree))
    }

    /// About how many bytes of the pack are in the tree that it is being opened into.
    private var countInTree: UInt64 {
        guard pack.openedSize > 0, let tree = try? Folder(opening: layout.arrivingTree(of: pack)) else {
            return 0
        }
        var size: UInt64 = 0
        try? tree.forEachEntry { _, status in
            if status.kind == .file { size += min(status.size, pack.openedSize - min(size, pack.openedSize)) }
        }
        return UInt64(Double(pack.length) * min(1, Double(size) / Double(pack.openedSize)))
    }

    var isTaken: VaultError {
        VaultError(
            .busy, "another process is downloading '\(pack.id)'",
            at: layout.partialDownload(of: pack).string, remedy: "wait for it, or try again later")
    }
}

/// Other users may write to ephemeral storage: a file there counts only if a single user can write it and it has a
/// single name. That user is this one, or another one that shares the area.
enum EphemeralName {
    /// Whether a download may continue in it.
    static func isOurs(_ file: FileStatus) -> Bool { isOneUsers(file) && file.isOfThisUser }

    /// Whether it may be locked, or read with each piece verified: the other role may run as another user of the area's
    /// group.
    static func isReadable(_ file: FileStatus, at path: FilePath) throws(VaultError) -> Bool {
        if isOurs(file) { return true }
        guard isOneUsers(file) else { return false }
        return try AreaPermissions(of: path.removingLastComponent()).areShared
    }

    private static func isOneUsers(_ file: FileStatus) -> Bool {
        file.kind == .file && file.hardLinks == 1 && file.permissions & 0o022 == 0
    }

    /// The file, open for a lock: another user's can only be read, which is enough except on NFS.
    static func lockableFile(_ path: FilePath) throws(VaultError) -> OpenFile {
        if let file = try? OpenFile(updating: path) { return file }
        return try OpenFile(reading: path)
    }

    /// Removes what has this name, unless it is this user's file or one that the group may read.
    static func discardFileOfAnotherUser(_ path: FilePath) throws(VaultError) {
        guard let found = try FileSystem.status(of: path), try !isReadable(found, at: path) else { return }
        try FileSystem.discard(path)
    }
}
