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
        try await work.send(work.packs, from: site, to: destination, note)
        try await work.send(work.metadata, from: site, to: destination, note)
        if let timestamp = work.timestamp {
            try await requireUnchanged(work, scratch: scratch.path)
            try await work.send([timestamp], from: work.staged, to: destination, note)
        }
        try await work.send(work.lastRoots, from: site, to: destination, note)
        try await remove(work.removals, of: work, scratch: scratch.path)
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
        var work = UploadWork(
            destination: destination.name, staged: staged, hosted: hosted,
            seen: try hosted.folder.metadata(named: name, limit: MetadataRole.timestamp.sizeLimit),
            version: uploaded.tree.chain.timestamp.version, earlier: uploaded.seen?.timestamp.version,
            warnings: uploaded.warnings)
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
        if work.seen != timestamp {
            work.timestamp = UploadItem(
                path: "metadata/\(name)", length: UInt64(timestamp.count), writing: .timestamp)
        }
        for record in uploaded.tree.hostedRecords {
            work.current["targets/\(record.hostedPath)"] = record.length
        }
        work.packs = try await packs(among: targets, sizes, published: uploaded.published)
        if prunes {
            work.removals = try await HostPruning(of: uploaded, in: site, now: now)
                .removals(from: sizes, hosted, scratch: scratch)
        }
        return work
    }

    /// Packs before what lists them, so that what a killed upload leaves is still found by the next one.
    private func remove(
        _ removals: [SiteFile], of work: UploadWork, scratch: FilePath
    ) async throws(VaultError) {
        guard !removals.isEmpty else { return }
        let last = scratch.appending("last")
        try FileSystem.createFolders(last.appending("metadata"), permissions: 0o700)
        let name = MetadataRole.timestamp.fileName
        let own = try MetadataFolder(work.staged.appending("metadata")).metadata(
            named: name, limit: MetadataRole.timestamp.sizeLimit)
        guard try await work.hosted.presentTimestamp(scratch: last) == own else { throw concurrentUpload }
        let files = removals.map(\.path)
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
    private func requireUnchanged(_ work: UploadWork, scratch: FilePath) async throws(VaultError) {
        let again = scratch.appending("again")
        try FileSystem.createFolders(again.appending("metadata"), permissions: 0o700)
        guard try await work.hosted.presentTimestamp(scratch: again) == work.seen else {
            throw concurrentUpload
        }
        // Files that were there already may have been removed by the upload of another state.
        let sizes = try await destination.sizes()
        guard work.current.allSatisfy({ sizes[$0] == $1 }) else { throw concurrentUpload }
    }

    private var concurrentUpload: VaultError {
        VaultError(
            .busy, "another publisher has uploaded there meanwhile", at: destination.name,
            remedy: RollbackCheck.again)
    }
}

/// A file that is to be sent.
struct UploadItem: Sendable {
    let path: String
    let length: UInt64
    let writing: UploadWriting
}

/// What an upload sends, in its order.
struct UploadWork {
    let destination: String
    /// Holds the timestamp as it was verified.
    let staged: FilePath
    let hosted: HostedMetadata
    /// The destination's timestamp; nil where there is none.
    let seen: [UInt8]?
    let version: Int64
    let earlier: Int64?
    let warnings: [Finding]
    var packs: [UploadItem] = []
    /// Each file before those that list it.
    var metadata: [UploadItem] = []
    /// Nil where the destination has it.
    var timestamp: UploadItem?
    var lastRoots: [UploadItem] = []
    /// The lengths of all files that the site lists.
    var current: [String: UInt64] = [:]
    /// Bytes.
    var sent: UInt64 = 0
    /// What the destination loses at last.
    var removals: [SiteFile] = []

    private var all: [UploadItem] { packs + metadata + (timestamp.map { [$0] } ?? []) + lastRoots }

    func report(isDryRun: Bool) -> UploadReport {
        UploadReport(
            destination: destination, files: all.map { SiteFile(path: $0.path, length: $0.length) },
            removed: removals, version: version, earlierVersion: earlier, isDryRun: isDryRun,
            warnings: warnings)
    }

    /// Sends files in their order, and reads each part back before the next is sent.
    mutating func send(
        _ items: [UploadItem], from folder: FilePath, to destination: any UploadDestination,
        _ observe: (WorkProgress) -> Void
    ) async throws(VaultError) {
        let total = all.saturatingSum(\.length)
        for part in Self.parts(of: items) {
            let files = part.map(\.path)
            try await destination.write(files, from: folder, part[0].writing)
            FailPoint.reach("upload")
            let wrong = try await destination.differing(files, from: folder)
            guard wrong.isEmpty else {
                throw VaultError(
                    .unavailable, "it does not read back as it was written: \(wrong.listed(upTo: 4))",
                    at: destination.name,
                    remedy:
                        "check the destination and its space, or whether another upload runs, then upload again"
                )
            }
            sent += part.saturatingSum(\.length)
            observe(WorkProgress(.sending, nil, sent, of: total))
        }
    }

    /// Parts whose files may be sent in any order: the packs, or the metadata of one kind. A part of packs is small enough for
    /// progress to be shown.
    private static func parts(of items: [UploadItem]) -> [[UploadItem]] {
        var parts: [[UploadItem]] = []
        var size: UInt64 = 0
        for item in items {
            if let last = parts.last, kind(of: last[0]) == kind(of: item), last.count < 500, size < 64 << 20 {
                parts[parts.count - 1].append(item)
                size += item.length
            } else {
                parts.append([item])
                size = item.length
            }
        }
        return parts
    }

    private static func kind(of item: UploadItem) -> [String] {
        let isTarget = item.path.hasPrefix("targets/")
        // The role's file name follows the version, as `targets.json`.
        let ending = isTarget ? "" : String(item.path.drop { $0 != "." })
        let isTopLevel = [".targets.json", ".snapshot.json", ".root.json", ".json"].contains(ending)
        return ["\(isTarget)", isTopLevel ? ending : "", "\(item.writing)"]
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
