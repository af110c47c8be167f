public import SealedPack
public import SystemPackage
import VaultConcurrency
import VaultErrors
import VaultFileSystem

/// Holds one version of a pack: as long as this lives, the version stays where it is, complete, while updates put newer
/// versions beside it. Afterwards, also when the process dies, the next fetch removes a superseded version.
///
/// Where the file system of permanent storage has no locks, a lease holds nothing (``isEnforced``): reads through it are never
/// of mixed versions, but may end with `.missing` when an update removed the version.
public final class PackLease: Sendable {
    public let id: PackID
    /// As the site lists it; see ``VaultStore/listedID(of:)``.
    let listedID: PackID
    public let version: UInt64
    public let form: PackForm
    /// The opened tree's folder, or the sealed pack's file, by its own name: an update never changes what it leads to.
    public let root: FilePath
    /// Whether other processes can't remove the version.
    public let isEnforced: Bool
    let staged: StagedVersion

    /// How long to try again while updates are faster.
    private static let patience = Duration.seconds(10)

    /// The version that `current` leads to. Throws `.missing` where the pack is not loaded.
    static func acquire(_ id: PackID, named name: PackID, in layout: StoreLayout) async throws(VaultError)
        -> PackLease
    {
        let deadline = ContinuousClock.now + patience
        var lost: String?
        while true {
            guard let home = try optional(Folder(opening: layout.home(of: id)), ignoring: .missing),
                let target = try home.readLink("current")
            else { throw .notLoaded(name, at: layout.current(of: id)) }
            guard let version = VersionName(target.string) else {
                throw VaultError(
                    .corrupt, "it does not lead to a version of the pack", at: layout.current(of: id).string,
                    remedy: "remove it and fetch the pack again")
            }
            if let staged = try StagedVersion(version, in: home) {
                let isLocked = staged.tryLock(exclusive: false)
                // It may have been removed, or even replaced, before it was locked.
                if isLocked != false, try staged.isStill(version, in: home) {
                    return PackLease(
                        id, named: name, version, root: home.path.appending(version.text), staged,
                        isLocked != nil)
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

    private init(
        _ listedID: PackID, named id: PackID, _ name: VersionName, root: FilePath,
        _ staged: consuming StagedVersion,
        _ isEnforced: Bool
    ) {
        (self.id, self.listedID) = (id, listedID)
        version = name.version
        form = name.form
        self.root = root
        self.staged = staged
        self.isEnforced = isEnforced
    }

    deinit { staged.unlock() }
}
