import StrictJSON
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultKeys
import VaultSite

/// Publishes a team's part of another vault's site: its own role's metadata, which that vault takes over. The part has no
/// root: whose keys count is said by the vault that delegates to the role.
struct TeamUpdate {
    let vault: VaultFolder
    let role: MetadataRole
    let passphrase: PassphraseSource?
    let period: SigningPeriod

    /// The newest metadata of the role, signed by the team's own key.
    static func published(by role: MetadataRole, in vault: VaultFolder, trust: RoleTrust) throws(VaultError)
        -> VerifiedTargets?
    {
        let folder = MetadataFolder(vault.metadata)
        let versions = try folder.versions().filter { $0.fileName == role.fileName }
        for file in versions.sorted(by: { $0.version > $1.version }) {
            let path = folder.path.appending(file.hostedName)
            let bytes = try DurableFile.read(path, limit: role.sizeLimit)
            let metadata = try UnverifiedMetadata(parsing: bytes, as: role, place: path.string)
            // Signed by a key that was replaced: nothing of it is taken over.
            guard trust.isMet(by: metadata) else { continue }
            return try VerifiedTargets(
                verifying: metadata, as: Delegation(to: role, of: .paths([]), trust: trust), by: role)
        }
        return nil
    }

    func run(listing records: [TargetRecord], after old: VerifiedTargets?) throws(VaultError)
        -> SiteUpdate.Outcome
    {
        let folder = MetadataFolder(vault.metadata)
        let signing = try MetadataSigning(for: vault, passphrase: passphrase, period: period)
        let trust = RoleTrust([MetadataKey(try signing.keys.ownKey(of: role))])
        if let old, !period.isDue(role, expiring: old.expires), old.records.hasSameContent(as: records) {
            return SiteUpdate.Outcome()
        }
        if let old, signing.versions[role] <= old.version {
            throw VaultError(
                .untrusted,
                "version \(old.version) is the last one that there can be: a thief of the team's key has published it",
                at: "role \(role)",
                remedy:
                    "put a new key into \(vault.signingKey(of: role)), publish again, and give its public key to those"
                    + " who list your packs")
        }
        let file = try signing.sign(role, for: [trust], namedBy: "the team's vault") {
            version, expires throws(VaultError) in
            try .targets(
                role, version: version, expires: expires, records: records, carrying: old?.json ?? [:])
        }
        try FileSystem.createFolders(folder.path, permissions: 0o755)
        try DurableFile.write(
            file.bytes.span, to: folder.path.appending(file.hostedName), permissions: 0o644, replacing: false)
        return SiteUpdate.Outcome(written: [file.hostedName])
    }
}
