import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultSite

/// A team's published metadata and packs, verified by the keys that the vault's settings name.
struct TeamDelivery {
    let vault: VaultFolder
    let team: SiteStructure.Team
    /// The team's metadata that the site lists now; nil where it lists none.
    let listed: MetadataReference?
    /// What the host lists, whose files are not copied; nil where no host is read.
    private let hosted: TargetTree?
    private let now: UTCTime
    /// The delegation to the team.
    let delegation: Delegation
    let folder: MetadataFolder
    /// The versions of the team's metadata files, the highest first; empty where ``unreadable`` is set.
    let versions: [Int64]
    /// Why the team's folder can't be read.
    let unreadable: VaultError?
    /// The highest version that the team's present keys have signed and that may be published.
    private(set) var newest: UnverifiedMetadata?
    /// The targets in ``newest``.
    private(set) var targets: VerifiedTargets?
    /// Their packs at paths that are delegated to the team; clients ignore the others.
    private(set) var reachablePacks: PublishedPacks

    private static let keyLimit = 1 << 16

    /// Reads the team's public keys, and its newest metadata. Throws for keys that the settings name and that can't be read; errors
    /// in the team's own folder are thrown by ``files(versionsAreReset:into:)``.
    init(
        of team: SiteStructure.Team, to vault: VaultFolder, listed: MetadataReference?, hosted: TargetTree?,
        now: UTCTime
    ) throws(VaultError) {
        self.listed = listed
        self.hosted = hosted
        self.vault = vault
        self.team = team
        self.now = now
        folder = MetadataFolder(vault.path.pushing(team.site).appending("metadata"))
        do throws(VaultError) {
            versions = try folder.versions().filter { $0.unversionedName == team.role.fileName }
                .map(\.version).sorted(by: >)
            unreadable = nil
        } catch {
            guard !error.isCancellation else { throw error }
            (versions, unreadable) = ([], error)
        }
        var keys: [MetadataKey] = []
        for name in team.keys {
            let path = vault.path.pushing(name)
            let pem = try DurableFile.read(path, limit: Self.keyLimit)
            guard let key = VerifyingKey(pem: pem.span) else {
                throw VaultError(
                    .key, "it is not a public key in PEM", at: path.string,
                    remedy: "get it from the team, as 'openssl pkey -pubout' writes it")
            }
            keys.append(MetadataKey(key))
        }
        delegation = Delegation(
            to: team.role, of: .paths(team.paths), trust: RoleTrust(keys, threshold: team.threshold),
            members: TagGrants.members(granting: team.tags))
        let (delegation, grants) = (delegation, TagGrants(to: [delegation]))
        reachablePacks = PublishedPacks(of: [], granting: grants)
        newest = newestSigned()
        targets = newest.flatMap { try? VerifiedTargets(verifying: $0, as: delegation, by: .targets) }
        let found = (targets?.records ?? []).filter { delegation.covers($0.path) }
        reachablePacks = PublishedPacks(of: found, granting: grants)
    }

    /// A pack of the team that clients find.
    func pack(_ id: PackID) -> PackManifest? {
        guard delegation.covers(id.targetPath), let record = targets?[id.targetPath] else { return nil }
        return try? ListedPack(record).pack
    }

    private func verified(_ metadata: UnverifiedMetadata) throws(VaultError) -> VerifiedTargets {
        let place = folder.path.appending(metadata.document.hostedName).string
        guard delegation.trust.isMet(by: metadata) else {
            throw VaultError(
                .untrusted, "it is not signed by the team's keys in \(vault.settings.string)", at: place,
                remedy: "get the team's site again, or its new public key from the team itself")
        }
        let targets = try VerifiedTargets(verifying: metadata, as: delegation, by: .targets)
        try targets.requireKnownMembers(at: place)
        return targets
    }

    /// Whether the team's metadata differs from the listed one.
    var isNew: Bool { newest.map { SignedMetadata($0).reference != listed } ?? false }

    /// The team's newest metadata, unless the site lists it already. Copies the files that it lists and the site does not have.
    ///
    /// - Parameters:
    ///   - versionsAreReset: whether the root that is published with this resets the versions that clients remember.
    ///   - output: the folder for new files: the site's targets, or scratch.
    /// - Throws: `untrusted` for metadata that the team did not sign, that is older than the listed one or has
    /// expired; `corrupt` for a file with another digest; `missing`; `io` for what can't be read.
    func files(versionsAreReset: Bool, into output: FilePath) throws(VaultError) -> SignedMetadata? {
        let last = listed?.version ?? 0
        let listedIsNoLongerSigned =
            try listed.map { listed throws(VaultError) in try !isSigned(listed) } ?? false
        let mayGoBack = listedIsNoLongerSigned && versionsAreReset
        if listedIsNoLongerSigned, !mayGoBack, let own = newest, own.document.version < last {
            throw VaultError(
                .untrusted,
                "it is older than version \(last), which the site lists; the team's present keys did not sign that, so no client accepts it",
                at: folder.path.appending(own.document.hostedName).string,
                remedy:
                    "get the team's newest site; if the team's former key was stolen, replace the snapshot key: clients"
                    + " forget version \(last) then",
                hint: .rotation(role: "snapshot", vault: vault.path.string))
        }
        let metadata = try publishable(above: mayGoBack ? 0 : last)
        let path = folder.path.appending(metadata.document.hostedName)
        let file = SignedMetadata(metadata)
        guard mayGoBack || last <= metadata.document.version else {
            throw VaultError(
                .untrusted, "it is older than version \(last), which the site lists", at: path.string,
                remedy: "get the team's newest site")
        }
        try requireUnusedVersion(for: file)
        let targets = try verified(metadata)
        guard targets.delegations == nil else {
            throw VaultError(
                .untrusted, "it delegates to others, which a team can't", at: path.string,
                remedy: "name each team in \(vault.settings.string)")
        }
        // Listed metadata may have expired: the packs of other teams must still be published.
        guard listed == file.reference || !targets.hasExpired(at: now) else {
            throw VaultError(
                .untrusted, "it expired at \(targets.expires)", at: path.string,
                remedy: "let the team publish again")
        }
        try requireReadableManifests(at: path.string)
        // Clients ignore targets outside of the delegated paths.
        try copyPacks(
            targets.records.filter { delegation.covers($0.path) }.flatMap(\.eachVersion), into: output)
        return listed == file.reference ? nil : file
    }

    /// A manifest of a later format is for clients of newer releases. One that is invalid in a known format is an error, because no
    /// client can read it.
    private func requireReadableManifests(at place: String) throws(VaultError) {
        for skipped in reachablePacks.skipped where PackID(targetPath: skipped.path) != nil {
            for version in skipped.target.eachVersion {
                do throws(VaultError) { _ = try PackManifest(parsing: version.json, place: place) } catch {
                    guard !error.needsNewerRelease else { continue }
                    throw VaultError(
                        .corrupt, "no client can read '\(skipped.path.excerpt)': \(error.problem)", at: place,
                        remedy: "let the team publish again with a release of this program")
                }
            }
        }
    }

    /// Whether the host has a file already, which is not copied then.
    func isHosted(_ record: TargetRecord) -> Bool {
        let hosted = (try? hosted?.record(at: record.path))?.eachVersion ?? []
        return hosted.contains { $0.hashes == record.hashes && $0.length == record.length }
    }
}

/// Which of the versions in a team's site is published.
extension TeamDelivery {
    /// How far a team's version may be above the listed one. A thief of its key could otherwise use the last version
    /// (2^53-1), after which the team could never publish again.
    private static let versionLimit: Int64 = 1_000_000

    /// How many files are looked at for the newest one that the team's keys signed. The team's own `publish` continues from the
    /// highest file in its folder, so more files above it are not the team's.
    private static let candidateLimit = 64

    /// How many bytes of such files are parsed.
    private static let candidateBytes: UInt64 = 16 << 20

    private var highestVersion: Int64 { (listed?.version ?? 0) + Self.versionLimit }

    /// ``newest`` where it may follow the listed version; else the metadata of the highest version, for the error.
    func publishable(above last: Int64) throws(VaultError) -> UnverifiedMetadata {
        if let unreadable { throw unreadable }
        guard let highest = versions.first else {
            throw VaultError(
                .missing, "the team '\(team.role)' has published nothing there", at: folder.path.string,
                remedy: "correct its \"site\" in \(vault.settings.string), or let the team publish first")
        }
        if let newest, newest.document.version > last { return newest }
        guard highest <= highestVersion else {
            throw VaultError(
                .untrusted,
                "version \(highest) is more than \(Self.versionLimit) above version \(listed?.version ?? 0), which the site lists",
                at: folder.path.appending(team.role.hostedName(version: highest)).string,
                remedy: "ask the team: its key may be stolen; then it removes that file, and replaces the key"
            )
        }
        return try metadata(version: highest)
    }

    /// The highest version that the team's present keys have signed and that is not too far above the listed one.
    func newestSigned() -> UnverifiedMetadata? {
        let highest = highestVersion
        var bytes: UInt64 = 0
        for version in versions.lazy.filter({ $0 <= highest }).prefix(Self.candidateLimit) {
            let path = folder.path.appending(team.role.hostedName(version: version))
            let size = (try? FileSystem.status(of: path, followingLinks: true))?.size ?? 0
            guard size <= team.role.sizeLimit else { continue }
            bytes += size
            guard bytes <= Self.candidateBytes else { return nil }
            guard let metadata = try? metadata(version: version), delegation.trust.isMet(by: metadata) else {
                continue
            }
            return metadata
        }
        return nil
    }

    private func metadata(version: Int64) throws(VaultError) -> UnverifiedMetadata {
        let path = folder.path.appending(team.role.hostedName(version: version))
        let bytes = try DurableFile.read(path, limit: team.role.sizeLimit)
        let metadata = try UnverifiedMetadata(parsing: bytes, as: team.role, place: path.string)
        guard metadata.document.version == version else {
            throw VaultError(
                .untrusted, "its version is \(metadata.document.version)", at: path.string,
                remedy: "get the team's site again")
        }
        return metadata
    }

    /// Whether the team's listed metadata is signed by its present keys and readable by clients.
    func isSigned(_ listed: MetadataReference) throws(VaultError) -> Bool {
        let name = team.role.hostedName(version: listed.version)
        do throws(VaultError) {
            guard
                let bytes = try MetadataFolder(vault.metadata).metadata(
                    named: name, limit: team.role.sizeLimit)
            else { return false }
            return delegation.trust.isMet(
                by: try UnverifiedMetadata(parsing: bytes, as: team.role, place: name))
        } catch {
            guard error.category == .untrusted else { throw error }
            return false
        }
    }

    /// Throws `untrusted` where the site has another file of this version.
    func requireUnusedVersion(for file: SignedMetadata) throws(VaultError) {
        let known = try MetadataFolder(vault.metadata).metadata(
            named: file.hostedName, limit: team.role.sizeLimit)
        guard known == nil || known == file.bytes else {
            throw VaultError(
                .untrusted, "the site has had another version \(file.draft.version) of the team's",
                at: folder.path.appending(file.hostedName).string,
                remedy: "let the team publish again, until its version has another number")
        }
    }
}
