import StrictJSON
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultKeys
import VaultSite

/// The published state of a team's vault: metadata of one role, which another vault lists and delegates to. It has no
/// root.
struct TeamPart {
    let role: MetadataRole
    let keys: SigningKeys
    /// The team's own key.
    let trust: RoleTrust
    /// The newest metadata that this key has signed.
    let targets: VerifiedTargets?

    init(
        of role: MetadataRole, in vault: VaultFolder, passphrase: PassphraseSource?
    ) throws(VaultError) {
        self.role = role
        keys = try SigningKeys(of: vault, passphrase: passphrase)
        trust = RoleTrust([MetadataKey(try keys.ownKey(of: role))])
        let folder = MetadataFolder(vault.metadata)
        let versions = try folder.versions().filter { $0.fileName == role.fileName }
        for file in versions.sorted(by: { $0.version > $1.version }) {
            let path = folder.path.appending(file.hostedName)
            let bytes = try DurableFile.read(path, limit: role.sizeLimit)
            let metadata = try UnverifiedMetadata(parsing: bytes, as: role, place: path.string)
            // Metadata of a replaced key is ignored.
            guard trust.isMet(by: metadata) else { continue }
            targets = try VerifiedTargets(
                verifying: metadata, as: Delegation(to: role, of: .paths([]), trust: trust), by: role)
            return
        }
        targets = nil
    }
}

/// Publishes a team's part of another vault's site.
struct TeamPublisher {
    let session: AuthorSession
    let part: TeamPart

    func run(listing records: [TargetRecord]) throws(VaultError) -> MetadataReport {
        let vault = session.vault
        let role = part.role
        let old = part.targets
        if let old, !session.period.isDue(role, expiring: old.expires), Set(old.records) == Set(records) {
            return MetadataReport()
        }
        let signing = try MetadataSigning(for: session, with: part.keys)
        if let old, signing.versions[role] <= old.version {
            throw VaultError(
                .untrusted,
                "version \(old.version) is the highest possible one: a thief of the team's key has published it",
                at: "role \(role)",
                remedy:
                    "put a new key into \(vault.signingKey(of: role)), publish again, and give its public key to those"
                    + " who list your packs")
        }
        // The other vault may ask for signatures of several keys, which this one does not know.
        let trusts = [part.trust] + part.keys.publicKeys.map { RoleTrust([MetadataKey($0)]) }
        let file = try signing.sign(role, for: trusts, namedBy: "the team's vault") {
            version, expires throws(VaultError) in
            try .targets(
                role, version: version, expires: expires, records: records, carrying: old?.json ?? [:])
        }
        try FileSystem.createFolders(vault.metadata, permissions: 0o755)
        try DurableFile.write(
            file.bytes.span, to: vault.metadata.appending(file.hostedName), permissions: 0o644,
            replacing: false)
        return MetadataReport(written: [file.hostedName])
    }
}
