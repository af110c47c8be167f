import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

/// Errors of single packs, and what they mean for the work on others.
extension VaultError {
    static func supersededByAnotherProcess(_ id: PackID, in layout: StoreLayout) -> VaultError {
        VaultError(
            .busy, "another process continued with the pack '\(id)'", at: layout.shared.string,
            remedy: "try again")
    }

    static func notLoaded(_ name: PackID, at path: FilePath) -> VaultError {
        VaultError(
            .missing, "the pack '\(name)' is not loaded", at: path.string,
            remedy: "fetch it with its key first")
    }

    static func removedMeanwhile(_ id: PackID) -> VaultError {
        VaultError(
            .missing, "the pack was removed meanwhile", at: id.description,
            remedy: "request it again if it is needed")
    }

    /// Whether work on other packs continues: the store is not busy, and nothing was cancelled.
    var concernsOnePack: Bool { category != .busy && !Task.isCancelled }

    /// Whether stored metadata are missing, or don't verify, so that not all that a site lists is known.
    var meansIncompleteMetadata: Bool {
        isHostFailure || [.untrusted, .corrupt, .missing].contains(category)
    }

    /// Whether a file is missing or its bytes are not what they were. Disks report unreadable sectors as `.io`.
    var isDamage: Bool {
        [.corrupt, .missing, .io].contains(category) && !isOpenFileLimit && !Task.isCancelled
    }
}

/// What `body` returns; nil where it fails, and so can't be used. Throws only where too many files are open: then it is not known what
/// is there.
func usable<R: ~Copyable>(_ body: @autoclosure () throws(VaultError) -> R?) throws(VaultError) -> R? {
    do throws(VaultError) { return try body() } catch {
        guard !error.isOpenFileLimit else { throw error }
        return nil
    }
}
