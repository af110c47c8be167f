public import SystemPackage
public import UpdateFramework
public import VaultBase
import VaultFileSystem
public import VaultSite

/// Makes a folder a verified copy of a site, without keys: all roots, the metadata that the newest snapshot lists, and all files that these
/// list.
///
/// Packs come first, each verified before it gets its name; then the metadata, the timestamp last, as an upload sends them. So clients of the
/// folder see the old state or the new one, also where the copy is interrupted.
public struct SiteMirror: Sendable {
    private let site: Site
    private let folder: FilePath
    private let pinnedRoot: VerifiedRoot?
    private let scratch: FilePath
    private let now: UTCTime

    /// - Parameters:
    ///   - pinnedRoot: a root that the site is verified from; nil for the first one of a folder that has a copy.
    ///   - scratch: an existing folder for copies of metadata.
    ///   - now: the moment at which the site's top-level metadata may not have expired.
    public init(
        of site: Site, in folder: FilePath, pinnedRoot: VerifiedRoot?, scratch: FilePath, now: UTCTime
    ) {
        self.site = site
        self.folder = folder
        self.pinnedRoot = pinnedRoot
        self.scratch = scratch
        self.now = now
    }

    /// What would be fetched.
    public func plan(_ observe: (WorkProgress) -> Void = { _ in }) async throws(VaultError) -> MirrorReport {
        try requireSiteOrNothing()
        let scratch = try ScratchFolder(in: scratch)
        let state = try await newState(in: scratch.path)
        var report = state.report(of: folder, isDryRun: true)
        let targets = state.tree.hostedRecords
        var work = WholeWork(targets.map { ($0.hostedPath, $0.length) }, steps: [.checking])
        for target in targets {
            let path = try SiteFiles.path(of: target, in: folder)
            observe(work.adding(WorkProgress(.checking, target), of: target.hostedPath))
            if target.isSound(at: path) { report.keptCount += 1 } else { report.add(target) }
        }
        report.fetchedBytes = report.files.saturatingSum(\.length)
        return report
    }

    /// - Parameter prune: removes what no client needs; nil to remove nothing.
    /// - Throws: `untrusted` for a site that does not verify, or is older than the copy; `busy` while another process writes the copy;
    ///   `unwritable` for a folder with other files; `corrupt` for a host that sends other bytes; `notHosted`, `unavailable`. Then the
    ///   copy is as it was, but for packs that the next run need not fetch.
    public func run(
        pruning: Pruning? = nil, _ observe: (WorkProgress) -> Void = { _ in }
    ) async throws(VaultError) -> MirrorReport {
        try requireSiteOrNothing()
        let scratch = try ScratchFolder(in: scratch)
        let isNew = try !FileSystem.exists(folder)
        if isNew { try FileSystem.createFolders(folder, permissions: 0o755) }
        var files = try SiteFiles(in: folder, from: site)
        let state: NewState
        do throws(VaultError) { state = try await newState(in: scratch.path) } catch {
            if isNew {
                try? files.finish()
                // Others may have put files there meanwhile.
                if (try? Folder(opening: folder).names().isEmpty) == true {
                    try? FileSystem.removeTree(folder)
                }
            }
            throw error
        }
        var report = state.report(of: folder, isDryRun: false)
        if let present = state.present { files.note(PublishedPacks(ofAllChannelsOf: present).packs) }
        let targets = state.tree.hostedRecords
        files.plan(targets)
        for target in targets {
            if try await files.complete(target, observe) { report.add(target) } else { report.keptCount += 1 }
        }
        report.fetchedBytes = files.fetchedBytes
        try await publish(state, scratch.path)
        if let pruning {
            report.pruned = try await SitePruning(
                ofSite: folder, pinnedRoot: state.pin, keeping: pruning.kept, grace: pruning.grace, now: now
            ).run()
        }
        try files.finish()
        return report
    }

    /// What stays: see ``SitePruning``.
    public struct Pruning: Sendable {
        let kept: Int
        let grace: Int

        public init(keeping kept: Int, grace: Int) { (self.kept, self.grace) = (kept, grace) }
    }

    private func requireSiteOrNothing() throws(VaultError) {
        guard try FileSystem.exists(folder) else { return }
        for name in ["metadata", SiteFiles.partials(in: folder).lastComponent?.string ?? ""]
        where try FileSystem.status(of: folder.appending(name), followingLinks: true)?.kind == .folder {
            return
        }
        guard try Folder(opening: folder).names().isEmpty else {
            throw VaultError(
                .unwritable, "the folder has other files, and no site", at: folder.string,
                remedy: "name an empty folder, or one that has a copy of the site")
        }
    }
}

// MARK: - The new state

extension SiteMirror {
    /// The host's metadata, verified, and not older than those of the copy.
    private struct NewState {
        let pin: VerifiedRoot
        let tree: TargetTree
        /// What the copy has; nil where it has none that verifies.
        let present: TargetTree?
        /// Holds the metadata.
        let staged: FilePath
        let earlierVersion: Int64?
        let warnings: [Finding]

        func report(of folder: FilePath, isDryRun: Bool) -> MirrorReport {
            MirrorReport(
                folder: folder, version: tree.chain.timestamp.version, earlierVersion: earlierVersion,
                isDryRun: isDryRun, warnings: warnings)
        }
    }

    private func newState(in scratch: FilePath) async throws(VaultError) -> NewState {
        let pin = try pin()
        // Whether it has expired is decided below; what teams let expire is copied, too.
        let tree = try await TargetTree.verifying(site, pinnedRoot: pin, now: .earliest)
        if let refusal = tree.refusals.first { throw refusal.error }
        let staged = scratch.appending("staged")
        let (metadata, hosted) = (staged.appending("metadata"), scratch.appending("hosted/metadata"))
        for folder in [metadata, hosted] { try FileSystem.createFolders(folder, permissions: 0o700) }
        _ = try await MetadataCopy(of: tree, at: site, pinned: pin, in: MetadataFolder(metadata))
        let destination = FolderDestination(folder)
        var copied = HostedMetadata(
            at: destination, sizes: try destination.sizes(), in: scratch.appending("hosted"))
        do throws(VaultError) {
            let uploaded = try await SiteToUpload(
                in: staged, to: destination, hosted: &copied, pinnedRoot: pin, now: now)
            return NewState(
                pin: pin, tree: tree,
                present: try? await TargetTree.verifying(
                    MetadataFolder(folder.appending("metadata")), pinnedRoot: pin, now: .earliest),
                staged: staged, earlierVersion: uploaded.seen?.timestamp.version, warnings: uploaded.warnings)
        } catch {
            throw refusal(error, staged)
        }
    }

    private func publish(_ state: NewState, _ scratch: FilePath) async throws(VaultError) {
        do throws(VaultError) {
            _ = try await SiteUpload(
                of: state.staged, to: FolderDestination(folder), pinnedRoot: state.pin, scratch: scratch,
                now: now
            ).run()
        } catch {
            throw refusal(error, state.staged)
        }
    }

    /// In an upload the destination is another publisher's, here it is the copy; and what was verified are copies of the host's files.
    private func refusal(_ error: VaultError, _ staged: FilePath) -> VaultError {
        if error.place.hasPrefix(staged.string), let name = FilePath(error.place).lastComponent {
            return error.with(at: site.place(of: name.string))
        }
        guard [.untrusted, .busy].contains(error.category), error.place.hasPrefix(folder.string) else {
            return error
        }
        return error.with(
            .untrusted,
            remedy:
                "copy a host that has the newest state; if a file of the copy is damaged, repair it from there",
            hint: .repairingSite(folder: folder.string))
    }

    private func pin() throws(VaultError) -> VerifiedRoot {
        if let pinnedRoot { return pinnedRoot }
        guard let root = try MetadataFolder(folder.appending("metadata")).firstRoot else {
            throw VaultError(
                .usage, "the first copy needs a root that the site is verified from", at: folder.string,
                remedy: "give the site's root file", hint: .trustedRoot)
        }
        return root
    }
}

extension MetadataFolder {
    /// Nil where it is missing.
    var firstRoot: VerifiedRoot? {
        get throws(VaultError) {
            let (role, name) = (MetadataRole.root, MetadataRole.root.hostedName(version: 1))
            return try metadata(named: name, limit: role.sizeLimit).map { bytes throws(VaultError) in
                try VerifiedRoot(
                    pinning: UnverifiedMetadata(parsing: bytes, as: role, place: place(of: name)))
            }
        }
    }
}

/// A file of a report about a site.
public struct SiteFile: Sendable {
    /// Relative to the site.
    public let path: String
    /// In bytes.
    public let length: UInt64
}

/// What a copy of a site fetched, or would fetch.
public struct MirrorReport: Sendable {
    public let folder: FilePath
    /// Of the site's timestamp.
    public let version: Int64
    /// Of the timestamp that the copy had; nil for a first copy.
    public let earlierVersion: Int64?
    public let isDryRun: Bool
    public let warnings: [Finding]
    /// Files that were missing or damaged, without metadata.
    public internal(set) var files: [SiteFile] = []
    /// How many files were there, and have been verified.
    public internal(set) var keptCount = 0
    /// Bytes that came from the host; less than the files have where their pieces were there. In a dry run at most.
    public internal(set) var fetchedBytes: UInt64 = 0
    /// Nil where nothing was to be removed.
    public internal(set) var pruned: SitePruning.Plan?

    mutating func add(_ target: TargetRecord) {
        files.append(SiteFile(path: "targets/\(target.hostedPath)", length: target.length))
    }
}
