import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultKeys

/// What a team has published so far: the metadata of its one role. Another vault's site delegates to that role; the team's
/// own vault has no root.
struct PublishedTeamRole {
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
        let versions = try folder.versions().filter { $0.unversionedName == role.fileName }
        for file in versions.sorted(by: { $0.version > $1.version }) {
            let path = folder.path.appending(file.hostedName)
            // A list that is too long for a site can be replaced by a shorter one.
            let bytes = try DurableFile.read(path, limit: role.type.sizeLimit)
            let metadata = try UnverifiedMetadata(parsing: bytes, as: role, place: path.string)
            // Metadata of a replaced key is ignored.
            guard trust.isMet(by: metadata) else { continue }
            // Only signatures and format are checked here; the delegating vault decides the paths.
            targets = try VerifiedTargets(
                verifying: metadata, as: Delegation(to: role, of: .paths([]), trust: trust), by: role)
            return
        }
        targets = nil
    }
}
