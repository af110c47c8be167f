import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

/// Opens a pack whose file is freed meanwhile, and removed at the end. Killed, it continues with what is on the disk.
struct ConsumingOpening {
    let pack: FilePath
    let target: FilePath

    func run(_ source: OpenPack, progress: (UInt64) -> Void) async throws(VaultError) {
        guard pack.lastComponent?.string.hasPrefix("@") != true else {
            throw VaultError(
                .usage, "the pack belongs to a client's store", at: pack.string,
                remedy: "open it there: assetvault unlock")
        }
        let sealed = try FreeablePack(
            source.pack, openedSize: source.catalog.contentLength, at: pack)
        let file = sealed.file
        guard try file.file.tryLock(exclusive: true), try file.file.isStill(at: pack) else {
            throw isBusy(pack)
        }
        if try await isComplete(source) { return try remove(file) }
        try OutputCheck.requireNewFolder(target)
        let unfinished = target.removingLastComponent().appending(".assetvault-\(source.identity).opening")
        try makeFolder(unfinished)
        guard let tree = try await ArrivingTree.claim(unfinished, opening: source, .writable) else {
            throw isBusy(unfinished)
        }
        do throws(VaultError) {
            try await tree.writer.finish(freeing: sealed, progress: progress)
            do throws(VaultError) { try tree.folder.synchronizeFileSystem() } catch {
                try tree.writer.removeUnsaved()
                throw error
            }
            try tree.commit(
                to: target, permissions: Umask.current.applied(to: 0o755), replacingEmptyFolder: true)
        } catch {
            throw tree.writer.progress.done > 0 ? unfinishedError(error, in: unfinished) : error
        }
        try remove(file)
    }

    /// Whether an earlier run was killed when only the pack was left to remove: the folder has all that the pack has, with its modes, and
    /// nothing else. It may be a copy that was not saved, so it is saved again.
    private func isComplete(_ source: OpenPack) async throws(VaultError) -> Bool {
        guard try FileSystem.status(of: target, followingLinks: true)?.kind == .folder else { return false }
        do throws(VaultError) { try await OpenedTree(target, of: source).requireSound() } catch {
            guard error.category == .corrupt || error.category == .missing else { throw error }
            return false
        }
        try Folder(opening: target).synchronizeFileSystem()
        return true
    }

    private func makeFolder(_ path: FilePath) throws(VaultError) {
        let parent = try Folder(holding: path)
        guard let name = path.lastComponent?.string, try parent.status(of: name) == nil else { return }
        _ = try parent.createFolder(name, permissions: 0o700)
        try parent.synchronize()
    }

    /// After the folder has its name durably. Another file that got the name of the pack stays.
    private func remove(_ file: OpenFileReference) throws(VaultError) {
        guard try file.file.isStill(at: pack) else { return }
        try FileSystem.removeFile(pack)
        try Folder(holding: pack).synchronize()
    }

    private func isBusy(_ path: FilePath) -> VaultError {
        VaultError(
            .busy, "another process uses it", at: path.string, remedy: "try again when that process has ended"
        )
    }

    private func unfinishedError(_ error: VaultError, in unfinished: FilePath) -> VaultError {
        let problem =
            "\(error.problem); keep \(unfinished.string): it has the pieces that were freed in the pack"
        guard error.category == .corrupt else { return error.with(problem: problem) }
        return error.with(
            problem: problem,
            remedy:
                "put a sound copy of the pack in its place, and repeat the command: it goes on with what is there"
        )
    }
}
