import SealedPack
import Synchronization
import SystemPackage
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultSite

/// A vault's site at its host, for publishing without the site's folder: a verified copy of the metadata, and the
/// needed parts of packs.
final class HostedSite: Sendable {
    /// The vault with the copied metadata.
    let vault: VaultFolder
    private let site: Site
    private let copy: MetadataCopy
    let tree: TargetTree
    /// See ``CurrentSite/isReplacement``.
    let isReplacement: Bool
    /// Files at the host under version numbers that the next publication would use.
    private let unknownFiles: [MetadataCopy.UnknownFile]
    private let successionWarnings: [Finding]
    private let scratch: ScratchFolder
    private let now: UTCTime
    private let wholePacks = Mutex(0)
    /// Versions that are needed again; each is an open file.
    private let kept = Mutex<[SHA256Digest: HostedPack]>([:])
    private static let keptLimit = 64
    /// The roles whose earlier metadata were all fetched.
    private let wholeHistories = Mutex<Set<MetadataRole>>([])

    /// - Throws: `untrusted` for a host whose metadata is not that of the vault's root, or older than what was published from
    ///   here; `unavailable`.
    init(
        _ site: Site, of vault: VaultFolder, _ settings: VaultSettings, now: UTCTime
    ) async throws(VaultError) {
        guard settings.structure.ownRole == nil else {
            throw VaultError(
                .usage, "a team's part has no timestamp, which names the newest state", at: vault.path.string,
                remedy: "publish it where its site/ is kept")
        }
        let scratch = try ScratchFolder(beside: vault.site)
        let folder = scratch.path.appending("metadata")
        try FileSystem.createFolders(folder, permissions: 0o700)
        let timestamp = MetadataRole.timestamp
        guard try await site.metadata(named: timestamp.fileName, limit: timestamp.sizeLimit) != nil else {
            throw VaultError(
                .unavailable, "the host has no site there", at: site.place(of: timestamp.fileName),
                remedy: "check the URL; the first time, publish and upload the vault's own site/")
        }
        let pinned = try vault.pinnedRoot()
        // An expired site must be publishable; see `warnings`.
        let tree = try await TargetTree.verifying(site, pinnedRoot: pinned, now: .earliest)
        // Packs of a role that can't be read would look new.
        if let refusal = tree.refusals.first(where: { OwnRoles.contains($0.role) }) { throw refusal.error }
        var copy = try await MetadataCopy(of: tree, at: site, pinned: pinned, in: MetadataFolder(folder))
        successionWarnings = try await vault.requireNoNewer(
            than: tree, under: copy.roots, at: site.place(of: timestamp.fileName))
        var unknownFiles = try await copy.readUnfinished(
            after: tree.chain.snapshot.version, of: .snapshot
        ).unknown
        // An interrupted upload may have brought roles that are in no tree yet, of a channel or of bins: those of the settings, and
        // those that its targets delegate to, whatever the settings here are.
        let channels = settings.structure.channelRoles(trust: tree.chain.root.trust(in: .targets))
        var roles = Set(CurrentSite.ownRoles(of: tree).map(\.document.role) + channels.flatMap(\.roles))
        var unread = Array(roles.sorted().reversed())
        while let role = unread.popLast() {
            let unfinished = try await copy.readUnfinished(
                after: tree.chain.snapshot[role]?.version ?? 0, of: role)
            unknownFiles += unfinished.unknown
            unread += unfinished.delegated.subtracting(roles).sorted()
            roles.formUnion(unfinished.delegated)
        }
        self.unknownFiles = unknownFiles
        isReplacement = try vault.isReplaced(by: tree, under: copy.roots)
        try await copy.add(rootsIn: MetadataFolder(vault.siteMetadata))
        self.vault = vault.following(folder)
        self.site = site
        self.copy = copy
        self.tree = tree
        self.scratch = scratch
        self.now = now
    }

    /// The newest root; the host may lack it.
    var root: VerifiedRoot { copy.roots.last ?? tree.chain.root }

    /// The source of metadata that is not in the copy.
    var source: any MetadataSource { site }

    /// Files whose numbers are taken, though they are not in the copy.
    var takenNames: [MetadataFileName] { unknownFiles.map(\.name) }

    /// Whether any channel lists it.
    func lists(_ pack: PackManifest) -> Bool {
        CurrentSite.ownRoles(of: tree).contains { role in
            role[pack.id.targetPath]?.eachVersion.contains { $0.hashes.sha256 == pack.sha256 } ?? false
        }
    }

    func pack(_ pack: PackManifest) async throws(VaultError) -> HostedPack {
        if let known = kept.withLock({ $0[pack.sha256] }) { return known }
        let hosted = try await HostedPack(pack, at: site, in: tree.chain, scratch: scratch.path)
        if hosted.isWhole { wholePacks.withLock { $0 += 1 } }
        return hosted
    }

    /// Keeps a version open for the next request.
    func keep(_ hosted: HostedPack, as pack: PackManifest) {
        kept.withLock { if $0.count < Self.keptLimit { $0[pack.sha256] = hosted } }
    }

    /// The timestamp, the snapshot or the root, if it has expired: then an attacker may be replaying an old state, which a new signature
    /// would make the newest (an indefinite freeze attack, TUF section 1.5.2).
    private var expired: (any VerifiedMetadata)? {
        let metadata: [any VerifiedMetadata] = [tree.chain.timestamp, tree.chain.snapshot, tree.chain.root]
        return metadata.first { $0.hasExpired(at: now) }
    }

    /// Throws `untrusted` where a key in the vault's own files is named neither by any of the host's roots nor by the one that waits for
    /// signatures: the key is of a later root, which the host does not show. A key of an earlier root was replaced.
    ///
    /// - Parameter added: a key that the next root is to name, as in the place of a lost one.
    func requireNewestRoot(
        naming keys: SigningKeys, orWaiting pending: UnverifiedMetadata?, orAdding added: VerifyingKey?
    ) throws(VaultError) {
        for role in TopLevelRole.allCases {
            let path = vault.signingKey(of: MetadataRole(role))
            // A file that can't be read is reported where it is needed.
            guard let key = try? keys.publicKey(at: path), key != added else { continue }
            let waiting = try pending?.rootTrust(in: role).keys ?? []
            let named = copy.roots.flatMap { $0.trust(in: role).keys } + waiting
            guard !named.contains(where: { $0.key == key }) else { continue }
            throw VaultError(
                .untrusted,
                "no root at the host names the key in \(path): the host does not serve the newest root",
                at: site.place(of: tree.chain.root.document.hostedName),
                remedy:
                    "find out why the host has no newer root, and upload it again; if no root ever named this key, run 'trust add-key' or"
                    + " move the file")
        }
    }

    static let withoutHost =
        "do it in the vault that has site/, without --against; or make sure that the host has your newest publication, copy all of it to site/,"
        + " and do it there"

    /// Throws `untrusted` where the host's timestamp, snapshot or root has expired.
    ///
    /// - Parameter risk: what happens if it is an old state.
    func requireUnexpired(_ risk: String, remedy: String) throws(VaultError) {
        guard let expired else { return }
        throw VaultError(
            .untrusted, "it expired at \(expired.expires): it may be an old state, and \(risk)",
            at: site.place(of: expired.document.hostedName), remedy: remedy)
    }

    var warnings: [Finding] {
        var warnings = successionWarnings
        if let expired {
            warnings.append(
                .warning(
                    "expired-host",
                    "the host's \(expired.document.role) expired at \(expired.expires): it may be an old state",
                    at: "host",
                    remedy:
                        "make sure that this is your newest publication: what is signed now continues what the host serves"
                ))
        }
        if let first = unknownFiles.first {
            let names = unknownFiles.map(\.name.hostedName).listed(upTo: 4)
            warnings.append(
                .warning(
                    "unknown-files",
                    "the host has files under the next numbers that are not this vault's: \(names): \(first.problem)",
                    at: "host", remedy: "remove these files there; higher numbers are used"))
        }
        if isReplacement {
            warnings.append(
                .warning(
                    "replaced-version",
                    "another publisher's version \(tree.chain.timestamp.version) replaced the one that was published from here",
                    at: "host", remedy: "a higher version is published now, for clients that have either"))
        }
        let count = wholePacks.withLock { $0 }
        if count > 0 {
            warnings.append(
                .warning(
                    "no-ranges",
                    "the host sends no parts of files: \(count == 1 ? "a pack" : "\(count) packs") came whole",
                    at: "host",
                    remedy: "configure it to answer Range requests (RFC 9110)"))
        }
        return warnings
    }

    private func roles(listing ids: Set<PackID>) -> Set<MetadataRole> {
        let channels = tree.chain.channels.compactMap { try? tree.following($0) }
        return Set(
            channels.flatMap { tree in ids.flatMap { tree.rolesVisited(for: $0.targetPath) } }
                .map(\.document.role))
    }

    /// Fetches earlier metadata of the roles that list these packs, for their last versions.
    func readHistory(of ids: Set<PackID>) async throws(VaultError) {
        let asked = roles(listing: ids)
        for role in CurrentSite.ownRoles(of: tree) where asked.contains(role.document.role) {
            try await copy.readEarlier(
                than: role.version, of: role.document.role, atMost: Int64(PackHistory.maximumFilesPerRole))
        }
    }

    /// Fetches all earlier metadata of the roles that list these packs in any channel, for any of their versions. Throws `limit`,
    /// before any request, where these are too many to read.
    func readWholeHistory(of ids: Set<PackID>) async throws(VaultError) {
        let asked = roles(listing: ids).subtracting(wholeHistories.withLock { $0 })
        let roles = CurrentSite.ownRoles(of: tree).filter { asked.contains($0.document.role) }
        var rest = Self.historyLimit
        for role in roles {
            guard role.version - 1 <= rest else {
                throw VaultError(
                    .limit, "more than \(Self.historyLimit) earlier files would have to be read",
                    at: site.place(of: role.document.hostedName), remedy: "do it where site/ is kept")
            }
            rest -= role.version - 1
        }
        for role in roles {
            let newest = role.version - 1
            try await copy.readAll(
                of: role.document.role, upTo: newest, atMost: newest, where: copy.isSigned)
            wholeHistories.withLock { _ = $0.insert(role.document.role) }
        }
    }

    /// The number of requests for all earlier metadata of a site.
    private static let historyLimit: Int64 = 16_384
    /// The part of them for one role, where those of all roles are read.
    private static let roleHistoryLimit: Int64 = 1024

    /// Fetches earlier metadata that the host still has: the newest first of each role that the verified snapshot lists. Snapshots
    /// count by the keys of the newest root alone, since they say what clients may hold.
    func readWholeHistory() async throws(VaultError) {
        let delegations = tree.chain.targets.allDelegations
        let teams = Dictionary(delegations.map { ($0.role, $0.trust) }) { first, _ in first }
        let signers = SignatureHistory(of: .snapshot, under: copy.roots)
        let snapshot = tree.chain.snapshot
        var rest = Self.historyLimit
        rest -= try await copy.readAll(
            of: .snapshot, upTo: snapshot.version - 1, atMost: min(rest, Self.roleHistoryLimit)
        ) {
            signers.standing(of: $0) == .current
        }
        for name in snapshot.hostedNames.sorted() {
            guard let file = MetadataFileName(hostedName: name), let role = file.role,
                role.listsOwnPacks || teams[role] != nil
            else { continue }
            rest -= try await copy.readAll(
                of: role, upTo: file.version, atMost: min(rest, Self.roleHistoryLimit)
            ) { file in
                copy.isSigned(file) || teams[role]?.isMet(by: file) ?? false
            }
        }
    }

    /// Removes metadata of an earlier run that differs from the host's, and replaces its timestamp by the host's: uploading it would undo
    /// another publication.
    func removeSuperseded() throws(VaultError) {
        let toUpload = MetadataFolder(vault.siteMetadata)
        for file in try copy.folder.versions() {
            guard let role = file.role,
                let bytes = try toUpload.metadata(named: file.hostedName, limit: role.sizeLimit),
                try bytes != copy.folder.metadata(named: file.hostedName, limit: role.sizeLimit)
            else { continue }
            try FileSystem.removeFile(toUpload.path.appending(file.hostedName))
        }
        // Copying it over the host's would be a rollback.
        let kept = toUpload.path.appending(MetadataRole.timestamp.fileName)
        guard try FileSystem.exists(kept) else { return }
        try DurableFile.write(
            tree.chain.timestamp.bytes.span, to: kept, permissions: 0o644, replacing: true)
    }

    /// Throws `busy` when another process has published to the host since it was read.
    func requireUnchanged() async throws(VaultError) {
        let name = MetadataRole.timestamp.fileName
        let limit = MetadataRole.timestamp.sizeLimit
        guard
            try await site.metadata(named: name, limit: limit)
                != copy.folder.metadata(named: name, limit: limit)
        else { return }
        throw VaultError(
            .busy, "another publisher has published there meanwhile", at: site.place(of: name),
            remedy: "run the same command again: it continues from there")
    }
}
