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
    let vault: VaultFolder
    /// So many versions of each pack stay.
    let kept: Int
    /// In days.
    let grace: Int
    let now: UTCTime

    public struct Removal: Sendable {
        public let path: FilePath
        public let length: UInt64
    }

    /// A file that stays although it is no part of what is published now.
    public struct Kept: Sendable {
        public let path: FilePath
        public let length: UInt64
        public let reason: KeepingReason
    }

    /// What goes, in the order in which it does, and what stays and why.
    public struct Plan: Sendable {
        public internal(set) var removals: [Removal] = []
        public internal(set) var kept: [Kept] = []
    }

    public init(of vault: VaultFolder, keeping kept: Int, grace: Int, now: UTCTime) {
        self.vault = vault
        self.kept = kept
        self.grace = grace
        self.now = now
    }

    /// What would be removed.
    public func plan() async throws(VaultError) -> Plan {
        try await vault.withPublisherLock { settings async throws(VaultError) in
            try await plan(under: settings)
        }
    }

    /// Removes: packs after the metadata that lists them, so that a run that is killed leaves nothing listed that is gone.
    public func run() async throws(VaultError) -> Plan {
        try await vault.withPublisherLock { settings async throws(VaultError) in
            let plan = try await plan(under: settings)
            for removal in plan.removals { try FileSystem.removeFile(removal.path) }
            return plan
        }
    }

    private func plan(under settings: VaultSettings) async throws(VaultError) -> Plan {
        try requireSnapshot(settings)
        let current = try await CurrentSite(of: vault)
        guard let tree = current.tree else { return Plan() }
        var metadata = try KeptMetadata(
            in: MetadataFolder(vault.metadata), tree: tree, now: now, versions: kept,
            signedBy: PackSigners(under: try await vault.roots(), of: tree))
        try metadata.keepTargets(listedIn: MetadataFolder(vault.pending))
        var plan = Plan()
        for file in metadata.files {
            try decide(
                vault.metadata.appending(file.hostedName), metadata.kept[file],
                replacedBy: metadata.successor(of: file), &plan)
        }
        for path in try packs() {
            try decide(
                vault.targets.appending(path), metadata.keptTargets[path],
                replacedBy: metadata.lastListing[path].flatMap { metadata.successor(of: $0) }, &plan)
        }
        return plan
    }

    func requireSnapshot(_ settings: VaultSettings) throws(VaultError) {
        guard settings.structure.ownRole != nil else { return }
        throw VaultError(
            .usage, "a team's vault has no snapshot, which says what is needed", at: vault.path.string,
            remedy: "prune the vault that lists the team's packs")
    }

    /// - Parameter successor: the metadata whose arrival ended the file's time; without any it is the file's own.
    private func decide(
        _ path: FilePath, _ keeping: KeptMetadata.Keeping?, replacedBy successor: MetadataFileName?,
        _ plan: inout Plan
    ) throws(VaultError) {
        if let keeping, keeping.reason == nil { return }
        guard let status = try FileSystem.status(of: path), status.kind == .file else { return }
        if let reason = keeping?.reason {
            plan.kept.append(Kept(path: path, length: status.size, reason: reason))
            return
        }
        var end = status.modified
        if let successor, let next = try FileSystem.status(of: vault.metadata.appending(successor.hostedName))
        {
            end = next.modified
        }
        let seconds = end / 1_000_000_000
        guard seconds <= now.adding(days: -grace).secondsSince1970 else {
            let until = UTCTime(secondsSince1970: seconds)?.adding(days: grace) ?? .latest
            plan.kept.append(Kept(path: path, length: status.size, reason: .recent(until: until)))
            return
        }
        plan.removals.append(Removal(path: path, length: status.size))
    }

    /// Every file below the targets that has a pack's name, relative to them.
    private func packs() throws(VaultError) -> [String] {
        let folder = vault.targets.appending("packs")
        guard try FileSystem.status(of: folder)?.kind == .folder else { return [] }
        var found: [String] = []
        try Folder(opening: folder).forEachEntry(below: "packs/") { path, status in
            if status.kind == .file, path.hasSuffix(".avpack") { found.append(path) }
        }
        return found
    }
}
