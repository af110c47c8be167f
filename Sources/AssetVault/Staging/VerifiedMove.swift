import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// How a verified pack gets its final name in another area. Other processes stage the same packs: where one of them was
/// faster, `.busy` makes the caller look again where the pack is now.
struct VerifiedMove: ~Copyable, Sendable {
    private let layout: StoreLayout
    private let pack: PackManifest
    private let target: FilePath
    /// Nil when the target has the same bytes already.
    private let move: FileMove?

    /// A rename on the same file system, else a copy that is verified; before the lock is taken, since that may last. A file
    /// of another user is always copied for the app: that user could change it afterwards.
    init(
        of file: OpenFileReference, _ pack: PackManifest, to target: FilePath, in store: StoreAccess
    ) throws(VaultError) {
        (layout, self.pack, self.target) = (store.layout, pack, target)
        guard try !FileSystem.exists(target) else {
            move = nil
            return
        }
        let verified = try file.file.status()
        let source = file.file.path
        let layout = store.layout
        let verify: @Sendable (borrowing OpenFile) throws(VaultError) -> Void = { copy throws(VaultError) in
            let found = try copy.status()
            if found.isSameFile(as: verified) { return }
            // Somebody replaced the file, and may still have it open.
            guard EphemeralName.isOurs(found) else { throw .supersededByAnotherProcess(pack.id, in: layout) }
            guard try copy.sha256() == pack.sha256 else {
                throw VaultError(
                    .corrupt, "the copy differs from the pack", at: target.string, remedy: "check the disk")
            }
        }
        do throws(VaultError) {
            move =
                store.role == .app && !EphemeralName.isOurs(verified)
                ? try FileMove.copying(from: source, to: target, verify: verify)
                : try FileMove(from: source, to: target, verify: verify)
        } catch {
            throw error.category == .missing ? .supersededByAnotherProcess(pack.id, in: layout) : error
        }
    }

    /// Gives the file its name, under the lock, unless another process has put the same bytes there.
    consuming func commit() throws(VaultError) {
        guard try !FileSystem.exists(target) else { return }
        let (id, layout) = (pack.id, layout)
        guard let move else { throw .supersededByAnotherProcess(id, in: layout) }
        do throws(VaultError) { try move.commit() } catch {
            throw error.category == .missing ? .supersededByAnotherProcess(id, in: layout) : error
        }
    }
}
