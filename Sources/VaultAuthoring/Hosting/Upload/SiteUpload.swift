public import SystemPackage
public import UpdateFramework
public import VaultBase
import VaultFileSystem

/// Uploads a site so that clients see the old state or the new one, whole and valid, also where it is interrupted.
///
/// Nothing is replaced but the timestamp, and what an interrupted upload left incomplete. The order: packs; delegated roles,
/// targets, snapshot; then, when all of it was read back, the timestamp, which publishes it. New roots come last where clients that don't
/// have them accept the rest, as after a rotation, whose metadata old and new keys have signed; else before the timestamp. So
/// does `MetadataFolder.publish(_:now:)`.
public struct SiteUpload: Sendable {
    private let site: FilePath
    private let destination: any UploadDestination
    private let pinnedRoot: VerifiedRoot?
    private let scratch: FilePath
    private let now: UTCTime
    private let prunes: Bool

    /// - Parameters:
    ///   - site: the site's folder. It may have new files only, as a runner's: the rest must be at the destination.
    ///   - pinnedRoot: a root that the site is verified from; without one its own first root.
    ///   - scratch: an existing folder for copies of metadata.
    ///   - now: the moment at which no metadata may have expired.
    ///   - prunes: whether the destination loses, at last, what was pruned from the site: see ``HostPruning``.
    public init(
        of site: FilePath, to destination: any UploadDestination, pinnedRoot: VerifiedRoot?,
        scratch: FilePath,
        now: UTCTime, prunes: Bool = false
    ) {
        self.site = site
        self.destination = destination
        self.pinnedRoot = pinnedRoot
        self.scratch = scratch
        self.now = now
        self.prunes = prunes
    }

    /// What would be sent.
    public func plan(_ observe: (WorkProgress) -> Void = { _ in }) async throws(VaultError) -> UploadReport {
        let scratch = try ScratchFolder(in: scratch)
        var whole = WholeWork<String>([], steps: [.verifying])
        return try await prepare(in: scratch.path) { observe(whole.adding($0, of: destination.name)) }
            .report(isDryRun: true)
    }

    /// - Throws: `untrusted` (76) where the site does not verify or is older than the destination's; `busy` (75) where another
    ///   publisher has taken a number, or uploads at the same time; `corrupt` (65) for a damaged or incomplete site; `unavailable`
    ///   (69) where the destination fails, or does not read back as it was written. Then the old timestamp is still there, or, where
    ///   new roots come last and these fail, the new one: clients of either accept that, and the next upload sends the roots.
    public func run(_ observe: (WorkProgress) -> Void = { _ in }) async throws(VaultError) -> UploadReport {
        let scratch = try ScratchFolder(in: scratch)
        var whole = WholeWork<String>([], steps: [.verifying, .sending])
        func note(_ progress: WorkProgress) { observe(whole.adding(progress, of: destination.name)) }
        var work = try await prepare(in: scratch.path, note)
        try await work.send(work.packs, from: site, note)
        try await work.send(work.metadata, from: site, note)
        if let timestamp = work.timestamp {
            try await requireUnchanged(work)
            try await work.send([timestamp], from: work.staged, note)
        }
        try await work.send(work.lastRoots, from: site, note)
        try await remove(work)
        return work.report(isDryRun: false)
    }

    private func prepare(
        in scratch: FilePath, _ observe: (WorkProgress) -> Void
    ) async throws(VaultError) -> UploadWork {
        let name = MetadataRole.timestamp.fileName
        guard
            let timestamp = try MetadataFolder(site.appending("metadata")).metadata(
                named: name, limit: MetadataRole.timestamp.sizeLimit)
        else {
            throw VaultError(
                .missing, "it has no metadata/timestamp.json, so there is nothing to upload", at: site.string,
                remedy: "name a site that 'assetvault publish' has written")
        }
        // What was verified is sent, whatever is published into the site meanwhile.
        let staged = scratch.appending("staged")
        try FileSystem.createFolders(staged.appending("metadata"), permissions: 0o700)
        try CachedFile.write(timestamp.span, to: staged.appending("metadata/\(name)"), permissions: 0o644)
        try destination.requireOutside(of: site)
        let sizes = try await destination.sizes()
        let copy = scratch.appending("hosted")
        try FileSystem.createFolders(copy.appending("metadata"), permissions: 0o700)
        var hosted = HostedMetadata(at: destination, sizes: sizes, in: copy)
        let uploaded = try await SiteToUpload(
            in: site, to: destination, hosted: &hosted, pinnedRoot: pinnedRoot, now: now)
        guard uploaded.tree.chain.timestamp.bytes == timestamp else {
            throw VaultError(
                .busy, "another process has published into the site meanwhile", at: site.string,
                remedy: "upload again")
        }
        let metadata = try uploaded.metadataToWrite(hosted)
        let targets = try uploaded.targets(sizes, observe)
        var work = UploadWork(uploaded: uploaded, destination: destination, staged: staged, hosted: hosted)
        for (file, writing) in metadata {
            let path = "metadata/\(file.hostedName)"
            guard let length = try FileSystem.status(of: site.appending(path), followingLinks: true)?.size
            else { continue }
            let item = UploadItem(path: path, length: length, writing: writing)
            if file.role == .root, uploaded.rootsComeLast {
                work.lastRoots.append(item)
            } else {
                work.metadata.append(item)
            }
        }
        if uploaded.seen?.timestamp.bytes != timestamp {
            work.timestamp = UploadItem(
                path: "metadata/\(name)", length: UInt64(timestamp.count), writing: .timestamp)
        }
        work.packs = try await packs(among: targets, sizes, published: uploaded.published)
        if prunes {
            work.removals = try await HostPruning(of: uploaded, in: site, now: now)
                .removals(from: sizes, hosted, scratch: scratch)
        }
        return work
    }

    /// Packs before what lists them, so that what a killed upload leaves is still found by the next one.
    private func remove(_ work: UploadWork) async throws(VaultError) {
        guard !work.removals.isEmpty else { return }
        guard try await work.hosted.presentTimestamp() == work.uploaded.tree.chain.timestamp.bytes else {
            throw concurrentUpload
        }
        let files = work.removals.map(\.path)
        for part in [files.filter { $0.hasPrefix("targets/") }, files.filter { $0.hasPrefix("metadata/") }]
        where !part.isEmpty {
            try await destination.remove(part)
            FailPoint.reach("upload")
        }
        let left = try await destination.sizes()
        let rest = files.filter { left[$0] != nil }
        guard rest.isEmpty else {
            throw VaultError(
                .unavailable, "it still has files that were removed: \(rest.listed(upTo: 4))",
                at: destination.name,
                remedy:
                    "check whether files may be removed there, then upload again; clients have the new site")
        }
    }

    /// A file of the right size that was never published there may be what an upload left that stopped since it did not read back. It
    /// matters when the newest metadata list it.
    private func packs(
        among targets: [SiteToUpload.File], _ sizes: [String: UInt64], published: Set<String>
    ) async throws(VaultError) -> [UploadItem] {
        let doubtful = targets.filter {
            $0.isCurrent && sizes[$0.path] == $0.length
                && !published.contains(String($0.path.dropFirst("targets/".count)))
        }.map(\.path)
        let damaged = doubtful.isEmpty ? [] : Set(try await destination.differing(doubtful, from: site))
        return targets.compactMap { file in
            guard let size = sizes[file.path] else {
                return UploadItem(path: file.path, length: file.length, writing: .new)
            }
            guard size != file.length || damaged.contains(file.path) else { return nil }
            return UploadItem(path: file.path, length: file.length, writing: .repairing)
        }
    }

    /// A destination of plain files can't compare and write in one step: this leaves a moment.
    private func requireUnchanged(_ work: UploadWork) async throws(VaultError) {
        guard try await work.hosted.presentTimestamp() == work.uploaded.seen?.timestamp.bytes else {
            throw concurrentUpload
        }
        // Files that were there already may have been removed by the upload of another state.
        let sizes = try await destination.sizes()
        guard work.uploaded.tree.hostedRecords.allSatisfy({ sizes["targets/\($0.hostedPath)"] == $0.length })
        else { throw concurrentUpload }
    }

    private var concurrentUpload: VaultError {
        VaultError(
            .busy, "another publisher has uploaded there meanwhile", at: destination.name,
            remedy: RollbackCheck.again)
    }
}

/// What an upload sent, or would send.
public struct UploadReport: Sendable {
    public let destination: String
    /// In the order in which they are sent.
    public let files: [SiteFile]
    /// What was removed at the destination, or would be.
    public let removed: [SiteFile]
    /// Of the timestamp that is uploaded.
    public let version: Int64
    /// Of the timestamp that was at the destination; nil for a first upload.
    public let earlierVersion: Int64?
    public let isDryRun: Bool
    public let warnings: [Finding]

    /// In bytes.
    public var length: UInt64 { files.saturatingSum(\.length) }
    /// The same of what was removed.
    public var removedLength: UInt64 { removed.saturatingSum(\.length) }
}
