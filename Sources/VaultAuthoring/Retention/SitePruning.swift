import SealedPack
public import SystemPackage
public import UpdateFramework
public import VaultErrors
import VaultFileSystem
import VaultSite

/// Removes from a site what nobody can need any more.
///
/// What stays: every root; the newest metadata; what an unexpired snapshot names, since a client may hold it, down to the
/// packs; the last versions of each pack with the metadata that lists them, so that they can be restored; and whatever
/// was live less than the grace time ago.
public struct SitePruning: Sendable {
    private let vault: VaultFolder
    /// So many versions of each pack stay.
    private let kept: Int
    /// In days.
    private let grace: Int
    private let now: UTCTime

    public struct Removal: Sendable {
        public let path: FilePath
        public let length: UInt64
    }

    public init(of vault: VaultFolder, keeping kept: Int, grace: Int, now: UTCTime) {
        self.vault = vault
        self.kept = kept
        self.grace = grace
        self.now = now
    }

    /// What would be removed, in the order in which it is.
    public func plan() async throws(VaultError) -> [Removal] {
        let lock = try vault.beginPublishing()
        let plan = try await planLocked()
        _ = consume lock
        return plan
    }

    /// Removes: packs after the metadata that lists them, so that a run that is killed leaves nothing listed that is gone.
    public func run() async throws(VaultError) -> [Removal] {
        let lock = try vault.beginPublishing()
        let plan = try await planLocked()
        for removal in plan { try FileSystem.unlink(removal.path) }
        _ = consume lock
        return plan
    }

    private func planLocked() async throws(VaultError) -> [Removal] {
        guard try VaultSettings(reading: vault.settings).structure.ownRole == nil else {
            throw VaultError(
                .usage, "a team's vault has no snapshot, which tells what is needed", at: vault.path.string,
                remedy: "prune the vault that lists the team's packs")
        }
        let current = try await CurrentSite(of: vault)
        guard let tree = current.tree else { return [] }
        var metadata = try KeptMetadata(
            in: MetadataFolder(vault.metadata), tree: tree, now: now, versions: kept,
            signedBy: try PackSigners(of: vault, tree))
        try metadata.keepTargets(listedIn: MetadataFolder(vault.pending))
        var removals: [Removal] = []
        for file in metadata.files where !metadata.kept.contains(file) {
            let successor = metadata.successor(of: file)
            try remove(vault.metadata.appending(file.hostedName), replacedBy: successor, &removals)
        }
        for path in try packs() where !metadata.keptTargets.contains(path) {
            let successor = metadata.lastListing[path].flatMap { metadata.successor(of: $0) }
            try remove(vault.targets.appending(path), replacedBy: successor, &removals)
        }
        return removals
    }

    /// - Parameter successor: the metadata whose arrival ended the file's time; without any it is the file's own.
    private func remove(
        _ path: FilePath, replacedBy successor: MetadataVersion?, _ removals: inout [Removal]
    ) throws(VaultError) {
        guard let status = try FileSystem.status(of: path), status.kind == .file else { return }
        var end = status.modified
        if let successor, let next = try FileSystem.status(of: vault.metadata.appending(successor.hostedName))
        {
            end = next.modified
        }
        guard end / 1_000_000_000 <= now.adding(days: -grace).secondsSince1970 else { return }
        removals.append(Removal(path: path, length: status.size))
    }

    /// Every file below the targets that has a pack's name, relative to them.
    private func packs() throws(VaultError) -> [String] {
        var found: [String] = []
        var folders = ["packs"]
        while let folder = folders.popLast() {
            let path = vault.targets.appending(folder)
            // A link may lead anywhere.
            guard try FileSystem.status(of: path)?.kind == .folder else { continue }
            for name in try Folder(opening: path).names().map({ String(decoding: $0, as: UTF8.self) })
                .sorted()
            {
                switch try FileSystem.status(of: path.appending(name))?.kind {
                case .folder: folders.append("\(folder)/\(name)")
                case .file where name.hasSuffix(".avpack"): found.append("\(folder)/\(name)")
                default: break
                }
            }
        }
        return found
    }
}
