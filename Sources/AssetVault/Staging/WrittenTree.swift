import SealedPack
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// A tree that a pack is opened into, and the pack's tail file, with which the next version can take pieces from the tree. Both
/// are removed when the value is gone, unless they got their names; the tree of a download stays for the next attempt.
struct WrittenTree: ~Copyable {
    private let folder: Location
    private let tailFile: ScratchFile

    private enum Location: ~Copyable, Sendable {
        case scratch(ScratchFolder)
        case arriving(ArrivingTree)
    }

    /// Opens what is missing of the pack, and saves the tree to the disk. Throws `.corrupt` where a piece is neither in the pack's
    /// file nor in a tree.
    ///
    /// - Parameter sealed: the pack's file if its pieces are freed meanwhile, for an arriving tree.
    static func make(
        of source: OpenPack, _ pack: PackManifest, arriving: ArrivingTree?, freeing sealed: FreeablePack?,
        restingOn basis: TreeBasis?, in layout: StoreLayout, progress: (UInt64) -> Void
    ) async throws(VaultError) -> WrittenTree {
        let tailFile = try ScratchFile(for: layout.tailFile(of: pack))
        try source.pack.writeTailFile(to: tailFile.file)
        if let arriving {
            try await arriving.writer.finish(freeing: sealed, progress: progress)
            // Before the lock is taken: this may last.
            do throws(VaultError) { try arriving.folder.synchronizeFileSystem() } catch {
                // Unsaved bytes can still be read, and a second attempt to save them would report success. Of a pack that waits, an
                // earlier attempt may have freed pieces, which only the tree has.
                let mayBeFreed = sealed != nil || source.pack.file.path == layout.waitingPack(pack)
                if mayBeFreed { try arriving.writer.removeUnsaved() } else { arriving.discard() }
                throw error
            }
            return WrittenTree(.arriving(arriving), tailFile)
        } else {
            let scratch = try ScratchFolder(in: layout.home(of: pack.id))
            StagingStep.openingBegan.reached()
            try await source.extract(into: scratch.folder, .readOnly, restingOn: basis, progress: progress)
            try scratch.folder.synchronizeFileSystem()
            return WrittenTree(.scratch(scratch), tailFile)
        }
    }

    private init(_ folder: consuming Location, _ tailFile: consuming ScratchFile) {
        self.folder = folder
        self.tailFile = tailFile
    }

    /// How the tree looks; see ``VersionFingerprint``. Nil where a file can't be read.
    var fingerprint: SHA256Digest? {
        switch folder {
        case .scratch(let scratch): try? VersionFingerprint.digest(of: scratch.path, as: .opened)
        case .arriving(let arriving): try? VersionFingerprint.digest(of: arriving.folder.path, as: .opened)
        }
    }

    /// Gives both their names, under the lock: the tail file first, since a tree is used with it.
    consuming func commit(to path: FilePath) throws(VaultError) {
        try tailFile.commit(permissions: 0o644, replacing: true)
        StagingStep.tailSaved.reached()
        let permissions = Umask.current.applied(to: 0o755)
        switch consume folder {
        case .scratch(let scratch): try scratch.commitSaved(to: path, permissions: permissions)
        case .arriving(let arriving): try arriving.commit(to: path, permissions: permissions)
        }
    }
}
