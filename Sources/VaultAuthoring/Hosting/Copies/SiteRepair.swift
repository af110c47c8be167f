public import SealedPack
public import SystemPackage
public import UpdateFramework
public import VaultBase
import VaultCrypto
import VaultFileSystem
public import VaultSite

/// Repairs the folder of a site, or one pack, by verified bytes from another host of the site.
///
/// Only files that are missing or damaged are written. Each is made beside, of its own sound pieces and fetched ones, is verified, and then takes
/// the place of the damaged one. So a file is at any time as it was or as it was signed.
public struct SiteRepair: Sendable {
    private let folder: FilePath
    private let mirror: Site
    private let pinnedRoot: VerifiedRoot?
    private let now: UTCTime

    /// - Parameters:
    ///   - mirror: another host of the site, or a folder with a copy of it. It is not trusted.
    ///   - pinnedRoot: a root that the site is verified from; nil for the folder's own first one.
    ///   - now: the moment at which the mirror's timestamp may not have expired, where it is needed.
    public init(of folder: FilePath, from mirror: Site, pinnedRoot: VerifiedRoot?, now: UTCTime) {
        self.folder = folder
        self.mirror = mirror
        self.pinnedRoot = pinnedRoot
        self.now = now
    }

    /// Repairs all files that it can.
    ///
    /// - Throws: what keeps it from knowing what was signed: `untrusted` where metadata can't be repaired, or the mirror is older than the
    ///   folder; also `busy`. Files that can't be repaired are in the report.
    public func run(_ observe: (WorkProgress) -> Void = { _ in }) async throws(VaultError) -> RepairReport {
        var report = RepairReport(subject: folder)
        var files = try SiteFiles(in: folder, from: mirror)
        var metadata = try await soundMetadata()
        let tree = try await tree(of: &metadata)
        if metadata.hasTimestamp { report.warnings = await newerState(than: tree, metadata.roots) }
        files.note(PublishedPacks(ofAllChannelsOf: tree).packs)
        let targets = tree.hostedRecords
        files.plan(targets)
        for target in targets {
            await repair(target, with: &files, &report, observe)
        }
        // Another state is not published without its files.
        if metadata.hasTimestamp || report.failures.isEmpty { try await write(tree, metadata, &report) }
        // Earlier versions that are gone may have been pruned.
        for listing in await EarlierListings(in: metadata.own, of: tree).listings
        where (try? FileSystem.exists(SiteFiles.path(of: listing.target, in: folder))) == true {
            await repair(listing.target, with: &files, &report, observe)
        }
        report.fetchedBytes = files.fetchedBytes
        if report.failures.isEmpty { try files.finish() }
        return report
    }

    private func repair(
        _ target: TargetRecord, with files: inout SiteFiles, _ report: inout RepairReport,
        _ observe: (WorkProgress) -> Void
    ) async {
        do throws(VaultError) {
            if try await files.complete(target, observe) {
                report.repaired.append(try SiteFiles.path(of: target, in: folder))
            } else {
                report.soundCount += 1
            }
        } catch {
            report.failures.append(error)
        }
    }

    /// Repairs one pack.
    ///
    /// - Parameter path: of the pack, which may be missing.
    public static func run(
        ofPack path: FilePath, _ pack: PackManifest, from mirror: Site,
        _ observe: (WorkProgress) -> Void = { _ in }
    ) async throws(VaultError) -> RepairReport {
        let target = try TargetRecord(path: pack.id.targetPath, json: pack.json)
        let copy = FileCopy(
            target: target, location: try mirror.location(ofTarget: target.hostedPath),
            transport: mirror.transport, path: path,
            partial: path.removingLastComponent().appending(".\(pack.sha256.hex).part"))
        var report = RepairReport(subject: path)
        if let fetched = try await copy.complete(observe) {
            (report.fetchedBytes, report.repaired) = (fetched, [path])
        } else {
            report.soundCount = 1
        }
        // A version of a store that was repaired rests on nothing: its file is whole.
        let places = PiecePlaces.path(beside: path)
        if try FileSystem.exists(places) { try FileSystem.removeFile(places) }
        return report
    }
}

// MARK: - Metadata

extension SiteRepair {
    private func soundMetadata() async throws(VaultError) -> SoundMetadata {
        let own = MetadataFolder(folder.appending("metadata"))
        let remedy = "give the site's root file"
        var found = pinnedRoot
        if found == nil {
            do throws(VaultError) { found = try own.firstRoot } catch {
                throw error.isStorageFailure ? error : error.with(remedy: remedy, hint: .trustedRoot)
            }
        }
        guard let pinned = found else {
            throw VaultError(
                .usage, "without its first root it is not known whose site this is",
                at: own.place(of: MetadataRole.root.hostedName(version: 1)), remedy: remedy,
                hint: .trustedRoot)
        }
        return await SoundMetadata(in: own, or: mirror, pinned: pinned)
    }

    /// What the folder's timestamp lists; without a sound one, what the mirror's does.
    private func tree(of metadata: inout SoundMetadata) async throws(VaultError) -> TargetTree {
        let pin = metadata.roots.first
        let isOwn = metadata.hasTimestamp
        let now = isOwn ? UTCTime.earliest : now
        var tree = try await TargetTree.verifying(metadata, pinnedRoot: pin, now: now)
        while true {
            let damaged = tree.refusals.map(\.role).filter {
                !OwnRoles.contains($0) && !metadata.rolesOfHost.contains($0)
            }
            guard !damaged.isEmpty else { break }
            metadata.rolesOfHost.formUnion(damaged)
            tree = try await TargetTree.verifying(metadata, pinnedRoot: pin, now: now)
        }
        if let refusal = tree.refusals.first(where: { OwnRoles.contains($0.role) }) { throw refusal.error }
        guard tree.chain.root.usesConsistentSnapshots else {
            throw VaultError(
                .usage, "its files have no versions in their names", at: folder.string,
                remedy: "publish the site with consistent snapshots")
        }
        if !isOwn { try requireNothingNewer(than: tree, in: metadata) }
        return tree
    }

    /// Throws `untrusted` where the mirror's timestamp lists less than the folder has. Damaged files count: they may have been the newest.
    private func requireNothingNewer(
        than tree: TargetTree, in metadata: SoundMetadata
    ) throws(VaultError) {
        let versions = tree.versions
        for file in try metadata.own.versions() {
            guard let version = versions[file.unversionedName], file.version > version else { continue }
            throw VaultError(
                .untrusted, "it is newer than what the mirror lists, version \(version): the mirror is older",
                at: metadata.own.place(of: file.hostedName),
                remedy:
                    "name a host that has the newest state, or upload the site again; remove the file if it was never published"
            )
        }
    }

    /// A timestamp that was put back is as valid as the newest one: only another host can have a newer one.
    private func newerState(than tree: TargetTree, _ roots: [VerifiedRoot]) async -> [Finding] {
        let (role, version) = (MetadataRole.timestamp, tree.chain.timestamp.version)
        guard let bytes = try? await mirror.metadata(named: role.fileName, limit: role.sizeLimit),
            let found = try? UnverifiedMetadata(parsing: bytes, as: role, place: role.fileName),
            roots.last?.trust(in: .timestamp).isMet(by: found) == true, found.document.version > version
        else { return [] }
        return [.mirrorAhead(found.document.version, of: version, at: mirror.place(of: role.fileName))]
    }

    /// Writes what differs, each file before those that list it; and earlier files that are damaged.
    private func write(
        _ tree: TargetTree, _ metadata: SoundMetadata, _ report: inout RepairReport
    ) async throws(VaultError) {
        let own = metadata.own
        let current =
            tree.numberedDocuments + metadata.roots.map(\.document) + [tree.chain.timestamp.document]
        try FileSystem.createFolders(own.path, permissions: 0o755)
        // Of a repair that was killed.
        _ = try? Folder(opening: own.path).removeAbandonedScratch()
        func write(_ bytes: [UInt8], _ name: String) throws(VaultError) {
            let role = MetadataFileName(hostedName: name)?.role ?? .timestamp
            // A sound file stays, also one that was published while packs were read.
            if let present = try? own.metadata(named: name, limit: role.sizeLimit),
                present == bytes || metadata.isSound(present, named: name)
            {
                return
            }
            let path = own.path.appending(name)
            try DurableFile.write(bytes.span, to: path, permissions: 0o644, replacing: true)
            report.repaired.append(path)
        }
        let names = Set(current.map(\.hostedName))
        for file in try own.versions() where !names.contains(file.hostedName) {
            guard let role = file.role, role != .root, role.topLevel != nil || OwnRoles.contains(role) else {
                continue
            }
            let found = try? await metadata.metadata(named: file.hostedName, limit: role.sizeLimit)
            if let found, metadata.isSound(found, named: file.hostedName) {
                try write(found, file.hostedName)
            } else if found == nil || metadata.hasAllRoots {
                // It may have been pruned meanwhile.
                guard try FileSystem.status(of: own.path.appending(file.hostedName)) != nil else { continue }
                report.failures.append(
                    VaultError(
                        .corrupt, "earlier metadata is damaged, and the mirror has no sound copy of it",
                        at: own.place(of: file.hostedName), remedy: "put the publisher's copy of it there",
                        code: "damaged"))
            }
        }
        for document in current { try write(document.bytes, document.hostedName) }
    }
}

/// What a repair found and repaired.
public struct RepairReport: Sendable {
    /// The folder of the site, or the pack.
    public let subject: FilePath
    /// Files that were missing or damaged, and are as they were signed.
    public internal(set) var repaired: [FilePath] = []
    /// Files below `targets/` that were not touched.
    public internal(set) var soundCount = 0
    /// Bytes that came from the mirror.
    public internal(set) var fetchedBytes: UInt64 = 0
    /// Files that are still damaged or missing, and why.
    public internal(set) var failures: [VaultError] = []
    public internal(set) var warnings: [Finding] = []
}
