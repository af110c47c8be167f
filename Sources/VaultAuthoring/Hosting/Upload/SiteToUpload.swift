import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultSite
import VaultTransport

/// A site that is to be uploaded, compared with what the destination has: verified as clients will find it.
struct SiteToUpload {
    /// A file of the site's folder, or of the destination.
    struct File {
        /// Relative to the site.
        let path: String
        let length: UInt64
        /// Whether the newest metadata list it; else earlier ones do.
        let isCurrent: Bool
    }

    private let folder: FilePath
    private let destination: any UploadDestination
    private let metadata: MetadataAfterUpload
    let roots: [VerifiedRoot]
    let tree: TargetTree
    /// What clients have seen at the destination; nil where nothing was published there.
    let seen: SeenMetadata?
    /// Whether clients with the old roots accept the rest of the upload. If so, the new roots are uploaded last.
    let rootsComeLast: Bool
    /// The names of the files that were published at the destination before, as far as its metadata verify.
    let published: Set<String>
    private(set) var warnings: [Finding] = []
    /// Signed versions between the destination's state and the newest, as far as the folder keeps them. They are uploaded so that runners
    /// can restore them. Older ones were there, and may have been pruned. Files that show names which are opaque by now are left out.
    private var earlierMetadata: [MetadataFileName] = []

    /// - Throws: `untrusted` for a site that does not verify, or is older than the destination's; `busy` where another publisher has
    ///   taken a number; `corrupt` for one that is incomplete, and for damaged metadata of the destination.
    init(
        in folder: FilePath, to destination: any UploadDestination, hosted: inout HostedMetadata,
        pinnedRoot: VerifiedRoot?, now: UTCTime
    ) async throws(VaultError) {
        self.folder = folder
        self.destination = destination
        metadata = MetadataAfterUpload(
            site: MetadataFolder(folder.appending("metadata")), hosted: hosted.folder,
            destination: destination)

        let hostedRoots = try metadata.unbroken(hosted.roots)
        try await hosted.fetch([MetadataRole.timestamp.fileName] + hostedRoots.map(\.hostedName))
        for root in hostedRoots { try metadata.requireSameRoot(root.hostedName) }
        guard let roots = try await RootHistory(fromFirstRootOf: metadata)?.roots, let newest = roots.last
        else {
            throw VaultError(
                .corrupt, "neither the site nor the destination has the first root",
                at: metadata.site.place(of: MetadataRole.root.hostedName(version: 1)),
                remedy: "put it into the site again; a site keeps all its roots")
        }
        self.roots = roots
        let hostedVersion =
            roots.last { hosted.has(MetadataRole.root.hostedName(version: $0.version)) }?.version ?? 0
        try metadata.requireNewestRoot(hostedVersion)

        let own = try await Self.seen(in: metadata, under: roots, fetching: &hosted)
        let known = roots.filter { $0.version <= hostedVersion }
        seen = try await Self.seen(under: known, orAnyOf: roots, in: &hosted, at: destination)
        let age = try RollbackCheck(of: own, after: seen, under: roots, at: destination)
        try age?.requireNotOlder()
        try await hosted.fetch((own?.snapshot?.hostedNames ?? []) + (seen?.snapshot?.hostedNames ?? []))
        if let seen, age?.isOfPresentKeys == true { try metadata.requireDescent(from: seen, under: roots) }

        let pin = pinnedRoot ?? roots.first
        tree = try await TargetTree.verifying(metadata, pinnedRoot: pin, now: now)
        guard newest.usesConsistentSnapshots else {
            throw VaultError(
                .usage, "its files have no versions in their names", at: folder.string,
                remedy: "publish the site with consistent snapshots")
        }
        try await age?.requireNothingNewer(than: tree, in: &hosted)
        warnings = try Self.warnings(of: tree) + (age?.warnings ?? [])
        rootsComeLast = await Self.rootsComeLast(metadata, after: seen, under: known, newest: newest)
        // The first root is new to no client: it was given to each.
        if seen != nil, newest.version > max(hostedVersion, 1), !rootsComeLast {
            warnings.append(
                .warning(
                    "roots-before-timestamp",
                    "clients refuse the host (exit code 76) while it has the new roots and the old timestamp",
                    at: "destination",
                    remedy: "upload again if this one is interrupted"))
        }
        published = seen == nil ? [] : await Self.published(in: hosted.folder, under: roots)
        earlierMetadata = try findEarlierMetadata()
    }
}

// MARK: - Refusals

extension SiteToUpload {
    /// With the snapshot, which may have to be fetched.
    private static func seen(
        in source: any MetadataSource, under roots: [VerifiedRoot], fetching hosted: inout HostedMetadata
    ) async throws(VaultError) -> SeenMetadata? {
        guard let seen = try await SeenMetadata(in: source, under: roots) else { return nil }
        try await hosted.fetch([MetadataRole.snapshot.hostedName(version: seen.timestamp.snapshot.version)])
        return try await SeenMetadata(in: source, under: roots)
    }

    /// A publication can't continue from a timestamp at the destination that is not the site's own.
    ///
    /// - Parameters:
    ///   - known: the roots that the destination has: by the newest of these its snapshot counts, too.
    ///   - roots: all of them: an interrupted upload, or damage, leaves a timestamp without its root.
    private static func seen(
        under known: [VerifiedRoot], orAnyOf roots: [VerifiedRoot], in hosted: inout HostedMetadata,
        at destination: any UploadDestination
    ) async throws(VaultError) -> SeenMetadata? {
        var problem = ""
        for roots in [known, roots] {
            do throws(VaultError) {
                return try await seen(in: hosted.folder, under: roots, fetching: &hosted)
            } catch {
                guard error.category == .untrusted else { throw error }
                problem = error.problem
            }
        }
        throw VaultError(
            .untrusted, "the file there is damaged, or another site's: \(problem)",
            at: destination.place(of: "metadata/\(MetadataRole.timestamp.fileName)"),
            remedy:
                "check the destination; only if you know that it is this site's, and this site the newest, remove the file there, then upload again"
        )
    }

    private static func warnings(of tree: TargetTree) throws(VaultError) -> [Finding] {
        var warnings: [Finding] = []
        for refusal in tree.refusals {
            guard !OwnRoles.contains(refusal.role), !refusal.error.isHostFailure else { throw refusal.error }
            warnings.append(
                Finding(
                    refusal.error.with(
                        problem: "packs listed by '\(refusal.role)' are left out: \(refusal.error.problem)"),
                    as: .warning, at: refusal.role.name))
        }
        return warnings
    }

    private static func rootsComeLast(
        _ metadata: MetadataAfterUpload, after seen: SeenMetadata?, under known: [VerifiedRoot],
        newest: VerifiedRoot
    ) async -> Bool {
        guard let seen, let last = known.last, last.version < newest.version else { return false }
        var without = metadata
        without.lastRoot = last.version
        do throws(VaultError) {
            let tree = try await TargetTree.verifying(without, pinnedRoot: known.first, now: .earliest)
            guard tree.refusals.allSatisfy({ !OwnRoles.contains($0.role) }),
                let rest = try await SeenMetadata(in: without, under: known)
            else { return false }
            try seen.requireNotOlder(rest)
            return true
        } catch {
            return false
        }
    }
}

// MARK: - Files

extension SiteToUpload {
    private static func published(in hosted: MetadataFolder, under roots: [VerifiedRoot]) async -> Set<String>
    {
        let tree = try? await TargetTree.verifying(hosted, pinnedRoot: roots.first, now: .earliest)
        return Set(tree?.recordsOfAllChannels.map(\.hostedPath) ?? [])
    }

    /// The first published file that the folder lacks; nil if it has all. The folder of a CI runner has new files only.
    func firstMissing() throws(VaultError) -> String? {
        let metadata = roots.map(\.document) + tree.numberedDocuments
        let targets = tree.hostedRecords.map { "targets/\($0.hostedPath)" }
        for path in metadata.map({ "metadata/\($0.hostedName)" }) + targets
        where try !FileSystem.exists(folder.appending(path)) {
            return path
        }
        return nil
    }

    private var local: MetadataFolder { metadata.site }

    /// The metadata files to write, in the order of the upload: a listed file before the file that lists it. Without the timestamp.
    func metadataToWrite(_ hosted: HostedMetadata) throws(VaultError) -> [(
        name: MetadataFileName, UploadWriting
    )] {
        var writes: [(name: MetadataFileName, UploadWriting)] = []
        for document in tree.numberedDocuments + roots.map(\.document) {
            let (name, hostedName, role) = (document.fileName, document.hostedName, document.role)
            guard let ours = try local.metadata(named: hostedName, limit: role.sizeLimit) else { continue }
            guard hosted.has(hostedName) else {
                writes.append((name, .new))
                continue
            }
            if role != .root { try metadata.requireSameBeginning(hostedName, role, isSigned: isSigned) }
            // The beginning of ours is what an interrupted upload left.
            if try hosted.folder.metadata(named: hostedName, limit: role.sizeLimit) != ours {
                writes.append((name, .repairing))
            }
        }
        writes += earlierMetadata.filter { !hosted.has($0.hostedName) }.map { ($0, .new) }
        return writes.sorted { Self.rank($0.name) < Self.rank($1.name) }
    }

    private static func rank(_ file: MetadataFileName) -> (Int, Int64, String) {
        let order: [MetadataRole] = [.targets, .snapshot, .root]
        let rank = file.role.flatMap { order.firstIndex(of: $0) } ?? -1
        return (rank, file.version, file.unversionedName)
    }

    private func findEarlierMetadata() throws(VaultError) -> [MetadataFileName] {
        let newest = tree.versions
        let hidesNames = PackNames.areNeeded(for: tree.recordsOfAllChannels)
        var files: [MetadataFileName] = []
        for file in try local.versions() {
            guard let role = file.role, role != .root, file.version < newest[file.unversionedName] ?? .max,
                file.version > seenVersion(of: role),
                let found = try local.parsableMetadata(in: file), found.document.version == file.version,
                isSigned(found), !hidesNames || (try? found.showsNames) == false
            else { continue }
            files.append(file)
        }
        return files
    }

    /// 0 for what the destination does not list.
    private func seenVersion(of role: MetadataRole) -> Int64 {
        guard let seen else { return 0 }
        return role == .snapshot ? seen.timestamp.snapshot.version : seen.snapshot?[role]?.version ?? 0
    }

    private func isSigned(_ found: UnverifiedMetadata) -> Bool {
        let delegations = tree.chain.targets.allDelegations.filter {
            $0.role == found.document.role
        }
        return roots.contains { $0.trust(in: found.document.role.type).isMet(by: found) }
            || delegations.contains { $0.trust.isMet(by: found) }
    }

    /// The files below `targets/` that the site's folder has, each verified. Throws `corrupt` for one that differs from what was
    /// signed, and for one of the newest metadata that is neither here nor, by its size, at the destination.
    func targets(
        _ sizes: [String: UInt64], _ observe: (WorkProgress) -> Void
    ) throws(VaultError) -> [File] {
        let site = Site(SiteLocation(path: folder), transport: FileTransport())
        var files: [File] = []
        var known: Set<String> = []
        let current = tree.hostedRecords
        let total = current.saturatingSum(\.length)
        var done: UInt64 = 0
        func add(_ record: TargetRecord, isCurrent: Bool) throws(VaultError) {
            guard known.insert(record.hostedPath).inserted else { return }
            let file = File(
                path: "targets/\(record.hostedPath)", length: record.length, isCurrent: isCurrent)
            guard let path = try site.location(of: record, in: tree.chain).path,
                !file.path.contains(where: \.isNewline)
            else {
                throw VaultError(
                    .corrupt, "its name can't be uploaded", at: file.path,
                    remedy: "publish it under another name")
            }
            guard try FileSystem.exists(path) else {
                guard isCurrent, sizes[file.path] != record.length else { return }
                throw VaultError(
                    .corrupt, "neither the site nor the destination has this file, of \(record.length) bytes",
                    at: path.string, remedy: "publish it again, or upload from where it was published")
            }
            guard try OpenFile(reading: path).hasContent(length: record.length, record.hashes.sha256) else {
                throw VaultError(
                    .corrupt, "the file is not the one that was signed for", at: path.string,
                    remedy: "put the publisher's copy of it there again, or publish it again")
            }
            done += record.length
            observe(WorkProgress(.verifying, nil, done, of: total))
            files.append(file)
        }
        for record in current { try add(record, isCurrent: true) }
        let signers = PackSigners(under: roots, of: tree)
        for file in earlierMetadata.sorted(by: { $0.version > $1.version })
        where file.role?.type == .targets {
            guard let found = try local.parsableMetadata(in: file) else { continue }
            for record in try found.records where signers.authorize(record, in: found) {
                try add(record, isCurrent: false)
            }
        }
        return files
    }
}
