public import SystemPackage
public import UpdateFramework
public import VaultBase
import VaultFileSystem
public import VaultSite

/// Removes files from a site that no client can need any more.
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
        case host(Site, of: VaultFolder)
        /// A site's folder by itself, as a host has it, and the root that it is verified from.
        case site(FilePath, pinnedRoot: VerifiedRoot)
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

    /// A file that stays although it is not part of what is published now.
    public struct Kept: Sendable {
        public let path: FilePath
        public let length: UInt64
        public let reason: KeepingReason
    }

    /// The files to remove, in order, and the files that stay, with the reason.
    public struct Plan: Sendable {
        public internal(set) var removals: [Removal] = []
        public internal(set) var kept: [Kept] = []

        /// Adds a file that is not part of what is published now.
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

    /// Of what a host has, by its metadata; paths are relative to the site, and nothing is removed.
    ///
    /// A host has no list of its files, and removes none on request. So packs that are gone already are named as well, where kept
    /// metadata list them. A file stays for the grace time after the metadata that replaced it were published, as snapshots say; where
    /// none does, after they expired.
    public init(of vault: VaultFolder, at host: Site, keeping kept: Int, grace: Int, now: UTCTime) {
        (subject, self.kept, self.grace, self.now) = (.host(host, of: vault), kept, grace, now)
    }

    /// Prunes without the vault. The site must verify from the root, and no publication or upload into its folder may run
    /// meanwhile.
    public init(ofSite site: FilePath, pinnedRoot: VerifiedRoot, keeping kept: Int, grace: Int, now: UTCTime)
    {
        (subject, self.kept, self.grace, self.now) = (.site(site, pinnedRoot: pinnedRoot), kept, grace, now)
    }

    /// The files that would be removed.
    ///
    /// - Throws: `untrusted` for a host whose metadata has expired: files that an old state does not list may be live. Also the
    ///   errors of a publication that can't continue from the host.
    public func plan() async throws(VaultError) -> Plan {
        try await planned { _ in }
    }

    /// Removes packs after the metadata that lists them, so that after a kill no listed pack is missing.
    public func run() async throws(VaultError) -> Plan {
        try await planned { plan throws(VaultError) in
            for removal in plan.removals { try FileSystem.removeFile(removal.path) }
        }
    }

    /// Carries a plan out as the only publisher.
    private func planned(_ carryOut: (Plan) throws(VaultError) -> Void) async throws(VaultError) -> Plan {
        switch subject {
        case .host(let host, let vault): return try await plan(of: vault, at: host)
        case .site(let folder, let pinnedRoot):
            let metadata = MetadataFolder(folder.appending("metadata"))
            // An expired site may be pruned: what is published now stays.
            let tree = try await TargetTree.verifying(metadata, pinnedRoot: pinnedRoot, now: .earliest)
            // Also those before the pinned one: their keys signed versions that may be restored.
            let roots = try await RootHistory(of: metadata, through: [pinnedRoot]).roots
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
            under: site.roots)
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

    private func plan(of vault: VaultFolder, at host: Site) async throws(VaultError) -> Plan {
        try vault.requireSnapshot(VaultSettings(reading: vault.settings))
        var request = AuthorRequest(keys: nil, now: now)
        request.host = host
        return try await vault.withSession(request) { session async throws(VaultError) in
            guard let host = session.host else { return Plan() }
            try host.requireUnexpired(
                "files that it does not list may be live", remedy: "publish and upload first, then prune")
            try await host.readWholeHistory()
            let vault = session.vault
            let folder = MetadataFolder(vault.metadata)
            var metadata = try KeptMetadata(
                in: folder, tree: host.tree, now: now, versions: kept,
                under: try await vault.roots())
            try metadata.keepTargets(listedIn: MetadataFolder(vault.pending))
            let times = try PublicationTimes(in: folder)
            func end(of file: MetadataFileName) throws(VaultError) -> UTCTime? {
                let successor = metadata.successor(of: file) ?? file
                guard let document = try folder.metadata(in: successor)?.document else { return nil }
                // No file was published after it expired.
                return (times[successor] ?? document.expires).adding(days: grace)
            }
            var plan = Plan()
            for file in metadata.files {
                let length = try FileSystem.status(of: vault.metadata.appending(file.hostedName))?.size ?? 0
                try plan.decide(
                    FilePath("metadata/\(file.hostedName)"), length, metadata.kept[file], at: now
                ) { () throws(VaultError) in try end(of: file) }
            }
            for (path, listing) in metadata.lastListing.sorted(by: { $0.key < $1.key }) {
                try plan.decide(
                    FilePath("targets/\(path)"), metadata.lengths[path] ?? 0, metadata.keptTargets[path],
                    at: now
                ) { () throws(VaultError) in try end(of: listing) }
            }
            return plan
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
    /// A snapshot names the files of a site that are needed.
    fileprivate func requireSnapshot(_ settings: VaultSettings) throws(VaultError) {
        guard settings.structure.ownRole != nil else { return }
        throw VaultError(
            .usage, "a team's vault has no snapshot, which says what is needed", at: path.string,
            remedy: "prune the vault that lists the team's packs")
    }
}
