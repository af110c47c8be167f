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
    private let subject: Subject
    /// So many versions of each pack stay.
    private let kept: Int
    /// In days.
    private let grace: Int
    private let now: UTCTime

    private enum Subject {
        case vault(VaultFolder)
        /// A site's folder by itself, as a host has it, and the root that it must follow from.
        case site(FilePath, pinnedRoot: [UInt8])
    }

    /// A verified site, and where its files are.
    private struct PrunedSite {
        let folder: FilePath
        let tree: TargetTree
        let roots: [VerifiedRoot]
        /// Drafts that wait for signatures, of a vault.
        let pending: MetadataFolder?

        var metadata: FilePath { folder.appending("metadata") }
        var targets: FilePath { folder.appending("targets") }
    }

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

        /// Adds a file that is no part of what is published now.
        ///
        /// - Parameter end: until when it was live, and the grace time after; nil for a file that is not looked at.
        mutating func decide(
            _ path: FilePath, _ length: UInt64, _ keeping: KeptMetadata.Keeping?, at now: UTCTime,
            end: () throws(VaultError) -> UTCTime?
        ) throws(VaultError) {
            if let keeping {
                guard let reason = keeping.reason else { return }
                kept.append(Kept(path: path, length: length, reason: reason))
                return
            }
            guard let end = try end() else { return }
            if end <= now {
                removals.append(Removal(path: path, length: length))
            } else {
                kept.append(Kept(path: path, length: length, reason: .recent(until: end)))
            }
        }
    }

    public init(of vault: VaultFolder, keeping kept: Int, grace: Int, now: UTCTime) {
        (subject, self.kept, self.grace, self.now) = (.vault(vault), kept, grace, now)
    }

    /// Without the vault. The site must verify from the root, and nobody may publish or upload into its folder meanwhile.
    public init(ofSite site: FilePath, pinnedRoot: [UInt8], keeping kept: Int, grace: Int, now: UTCTime) {
        (subject, self.kept, self.grace, self.now) = (.site(site, pinnedRoot: pinnedRoot), kept, grace, now)
    }

    /// What would be removed.
    public func plan() async throws(VaultError) -> Plan {
        try await planned { _ in }
    }

    /// Removes: packs after the metadata that lists them, so that a run that is killed leaves nothing listed that is gone.
    public func run() async throws(VaultError) -> Plan {
        try await planned { plan throws(VaultError) in
            for removal in plan.removals { try FileSystem.removeFile(removal.path) }
        }
    }

    /// Carries a plan out while nobody publishes.
    private func planned(_ carryOut: (Plan) throws(VaultError) -> Void) async throws(VaultError) -> Plan {
        switch subject {
        case .site(let folder, let pinnedRoot):
            let metadata = MetadataFolder(folder.appending("metadata"))
            // An expired site may be pruned: what is published now stays.
            let tree = try await TargetTree.verifying(metadata, pinnedRoot: pinnedRoot, now: .earliest)
            let pinned = try VerifiedRoot(
                pinning: UnverifiedMetadata(parsing: pinnedRoot, as: .root, place: "trusted root"))
            // Also those before the pinned one: their keys signed what may be restored.
            let roots = try await RootHistory(of: metadata, through: [pinned]).roots
            let plan = try plan(of: PrunedSite(folder: folder, tree: tree, roots: roots, pending: nil))
            try carryOut(plan)
            return plan
        case .vault(let vault):
            return try await vault.withPublisherLock { settings async throws(VaultError) in
                guard let site = try await site(of: vault, settings) else { return Plan() }
                let plan = try plan(of: site)
                try carryOut(plan)
                return plan
            }
        }
    }

    /// Nil before anything was published.
    private func site(of vault: VaultFolder, _ settings: VaultSettings) async throws(VaultError)
        -> PrunedSite?
    {
        try vault.requireSnapshot(settings)
        guard let tree = try await CurrentSite(of: vault).tree else { return nil }
        return PrunedSite(
            folder: vault.site, tree: tree, roots: try await vault.roots(),
            pending: MetadataFolder(vault.pending))
    }

    private func plan(of site: PrunedSite) throws(VaultError) -> Plan {
        var metadata = try KeptMetadata(
            in: MetadataFolder(site.metadata), tree: site.tree, now: now, versions: kept,
            signedBy: PackSigners(under: site.roots, of: site.tree))
        if let pending = site.pending { try metadata.keepTargets(listedIn: pending) }
        var plan = Plan()
        for file in metadata.files {
            try decide(
                site.metadata.appending(file.hostedName), metadata.kept[file],
                replacedBy: metadata.successor(of: file).map { site.metadata.appending($0.hostedName) }, &plan
            )
        }
        for path in try packs(in: site) {
            let successor = metadata.lastListing[path].flatMap { metadata.successor(of: $0) }
            try decide(
                site.targets.appending(path), metadata.keptTargets[path],
                replacedBy: successor.map { site.metadata.appending($0.hostedName) }, &plan)
        }
        return plan
    }

    /// - Parameter successor: the metadata whose arrival ended the file's time; without any it is the file's own.
    private func decide(
        _ path: FilePath, _ keeping: KeptMetadata.Keeping?, replacedBy successor: FilePath?,
        _ plan: inout Plan
    ) throws(VaultError) {
        if let keeping, keeping.reason == nil { return }
        guard let status = try FileSystem.status(of: path), status.kind == .file else { return }
        try plan.decide(path, status.size, keeping, at: now) { () throws(VaultError) in
            let next = try successor.flatMap { path throws(VaultError) in try FileSystem.status(of: path) }
            let seconds = (next ?? status).modified / 1_000_000_000
            return UTCTime(secondsSince1970: seconds)?.adding(days: grace) ?? .latest
        }
    }

    /// Every file below the targets that has a pack's name, relative to them.
    private func packs(in site: PrunedSite) throws(VaultError) -> [String] {
        let folder = site.targets.appending("packs")
        guard try FileSystem.status(of: folder)?.kind == .folder else { return [] }
        var found: [String] = []
        try Folder(opening: folder).forEachEntry(below: "packs/") { path, status in
            if status.kind == .file, path.hasSuffix(".avpack") { found.append(path) }
        }
        return found
    }
}

extension VaultFolder {
    /// A snapshot says what of a site is needed.
    func requireSnapshot(_ settings: VaultSettings) throws(VaultError) {
        guard settings.structure.ownRole != nil else { return }
        throw VaultError(
            .usage, "a team's vault has no snapshot, which says what is needed", at: path.string,
            remedy: "prune the vault that lists the team's packs")
    }
}
