import SealedPack
import SystemPackage
import UpdateFramework
import VaultCrypto
import VaultErrors
import VaultFileSystem
import VaultSite

/// A team's published metadata and packs, verified by the keys that the vault's settings name.
struct TeamDelivery {
    let vault: VaultFolder
    let team: SiteStructure.Team
    /// The team's metadata that the site lists.
    let listed: MetadataReference?
    /// The host's listing: its files need not be copied.
    private let hosted: TargetTree?
    private let now: UTCTime
    /// The delegation to the team.
    let delegation: Delegation
    let folder: MetadataFolder
    /// Of the team's metadata, the newest first.
    let versions: [Int64]
    /// The newest metadata that the team's keys have signed, whatever its version.
    private(set) var newest: UnverifiedMetadata?
    /// What it lists.
    private(set) var targets: VerifiedTargets?
    /// What clients find of that.
    private(set) var listedPacks: PublishedPacks

    private static let keyLimit = 1 << 16

    /// Reads the team's public keys, and its newest metadata.
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
        versions = try folder.versions().filter { $0.unversionedName == team.role.fileName }.map(\.version)
            .sorted(by: >)
        var keys: [MetadataKey] = []
        for name in team.keys {
            let path = vault.path.pushing(name)
            let pem = try DurableFile.read(path, limit: Self.keyLimit)
            guard let key = VerifyingKey(pem: pem.span) else {
                throw VaultError(
                    .key, "it is no public key in PEM", at: path.string,
                    remedy: "get it from the team, as 'openssl pkey -pubout' writes it")
            }
            keys.append(MetadataKey(key))
        }
        delegation = Delegation(
            to: team.role, of: .paths(team.paths), trust: RoleTrust(keys, threshold: team.threshold),
            members: TagGrants.members(granting: team.tags))
        let (delegation, grants) = (delegation, TagGrants(to: [delegation]))
        listedPacks = PublishedPacks(of: [], granting: grants)
        newest = newestSigned(upTo: .max)
        targets = newest.flatMap { try? VerifiedTargets(verifying: $0, as: delegation, by: .targets) }
        let found = (targets?.records ?? []).filter { delegation.covers($0.path) }
        listedPacks = PublishedPacks(of: found, granting: grants)
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
        return try VerifiedTargets(verifying: metadata, as: delegation, by: .targets)
    }

    /// The team's newest metadata, unless the site lists it already. Copies the files that it lists to the site.
    ///
    /// - Parameter versionsAreReset: whether clients forget the versions that they have seen, under the root that is
    /// published with this.
    /// - Throws: `untrusted` for metadata that the team did not sign, that is older than the listed one or has
    /// expired; `corrupt` for a file with another digest; `missing`.
    func files(versionsAreReset: Bool) throws(VaultError) -> SignedMetadata? {
        let last = listed?.version ?? 0
        let isOverruled = try listed.map { listed throws(VaultError) in try !isSigned(listed) } ?? false
        let goesBack = isOverruled && versionsAreReset
        let limit = last + Self.versionLimit
        if isOverruled, !goesBack, let own = newestSigned(upTo: limit), own.document.version < last {
            throw VaultError(
                .untrusted,
                "it is older than version \(last), which the site lists, and which another key has signed",
                at: folder.path.appending(own.document.hostedName).string,
                remedy:
                    "get the team's newest site; if the team's former key was stolen, replace the snapshot key: clients"
                    + " forget version \(last) then",
                hint: .rotation(role: "snapshot", vault: vault.path.string))
        }
        let metadata = try newest(above: goesBack ? 0 : last, upTo: limit)
        let path = folder.path.appending(metadata.document.hostedName)
        let file = SignedMetadata(metadata)
        guard goesBack || last <= metadata.document.version else {
            throw VaultError(
                .untrusted, "it is older than version \(last), which the site lists", at: path.string,
                remedy: "get the team's newest site")
        }
        try requireFreeNumber(for: file)
        let targets = try verified(metadata)
        guard targets.delegations == nil else {
            throw VaultError(
                .untrusted, "it delegates to others, which a team can't", at: path.string,
                remedy: "name each team in \(vault.settings.string)")
        }
        // Listed metadata that expires must not hold back everything else.
        guard listed == file.reference || !targets.hasExpired(at: now) else {
            throw VaultError(
                .untrusted, "it expired at \(targets.expires)", at: path.string,
                remedy: "let the team publish again")
        }
        try requireReadableManifests(at: path.string)
        // Other targets exist for no client.
        for record in targets.records where delegation.covers(record.path) {
            for version in record.eachVersion { try copy(version) }
        }
        return listed == file.reference ? nil : file
    }

    /// A later format is for clients of newer releases; a manifest that breaks the rules of this one is for nobody.
    private func requireReadableManifests(at place: String) throws(VaultError) {
        for skipped in listedPacks.skipped where PackID(targetPath: skipped.path) != nil {
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

    private func copy(_ record: TargetRecord) throws(VaultError) {
        // A path outside of the folder of targets is no pack's.
        guard let id = PackID(targetPath: record.path) else { return }
        let folder = vault.targets.appending(id.targetPath).removingLastComponent()
        let target = vault.targets.appending(record.hostedPath)
        let hosted = (try? hosted?.record(at: record.path))?.eachVersion ?? []
        if hosted.contains(where: { $0.hashes == record.hashes }) { return }
        if try FileSystem.exists(target) { return }
        let source = vault.path.pushing(team.site).appending("targets").appending(record.hostedPath)
        try FileSystem.createFolders(folder, permissions: 0o755)
        try FileMove.copy(source, of: record.length, to: target, permissions: 0o644) {
            copy throws(VaultError) in
            guard try copy.hasContent(length: record.length, record.hashes.sha256) else {
                throw VaultError(
                    .corrupt, "it is not the file that the team signed for", at: source.string,
                    remedy: "get the team's site again")
            }
        }
    }
}
