import SystemPackage
import UpdateFramework
import VaultCrypto
import VaultErrors
import VaultFileSystem

/// The signing keys in a vault's `keys/` folder: each is read when it is needed and let go at once.
struct SigningKeys {
    private static let limit = 1 << 16

    let vault: VaultFolder

    init(of vault: VaultFolder) { self.vault = vault }

    /// Signs metadata that clients of `root` are to believe. Throws `.key` when the key is not one that it names.
    func sign(_ draft: MetadataDraft, under root: VerifiedRoot) throws(VaultError) -> SignedMetadata {
        let key = try key(of: draft.role)
        guard root.keys(of: draft.role).keys.contains(key.publicKey) else {
            throw VaultError(
                .key, "it is not the key that root version \(root.version) names for this role",
                at: vault.signingKey(of: draft.role).string,
                remedy: "put the key back that was there when the root was signed")
        }
        return try draft.signed(with: key)
    }

    /// The first root: it names the vault's own keys, one a role.
    func firstRoot(expires: UTCTime) throws(VaultError) -> SignedMetadata {
        try root(version: 1, expires: expires).signed(with: try key(of: .root))
    }

    /// The next root, with the vault's own keys.
    func root(after root: VerifiedRoot, expires: UTCTime) throws(VaultError) -> SignedMetadata {
        try sign(try self.root(version: root.version + 1, expires: expires), under: root)
    }

    /// Throws `.untrusted` unless a root names the vault's own keys and no others.
    func requireAllNamed(by root: VerifiedRoot, at path: FilePath) throws(VaultError) {
        for role in TopLevelRole.allCases where try root.keys(of: role).keys != [key(of: role).publicKey] {
            throw VaultError(
                .untrusted,
                "this root names another \(role.rawValue) key than \(vault.signingKey(of: role).string)",
                at: path.string, remedy: "restore the keys that belong to it, or remove site/ to begin anew")
        }
    }

    /// Whether the key is in the folder; that of the root may be kept elsewhere.
    func hasKey(of role: TopLevelRole) throws(VaultError) -> Bool {
        try FileSystem.exists(vault.signingKey(of: role))
    }

    private func root(version: Int64, expires: UTCTime) throws(VaultError) -> MetadataDraft {
        var roles: [TopLevelRole: RoleKeys] = [:]
        for role in TopLevelRole.allCases { roles[role] = RoleKeys([try key(of: role).publicKey]) }
        return try .root(version: version, expires: expires, roles: roles)
    }

    private func key(of role: TopLevelRole) throws(VaultError) -> Ed25519PrivateKey {
        let path = vault.signingKey(of: role)
        let file = try open(path, of: role)
        guard try file.status().permissions & 0o077 == 0 else {
            throw VaultError(
                .key, "others may read this signing key", at: path.string,
                remedy: "run: chmod 600 \(path.string)")
        }
        let pem = try SecretBytes(capacity: Self.limit) { room throws(VaultError) in
            try file.read(into: &room, at: 0)
        }
        do throws(VaultError) {
            let key = try Ed25519PrivateKey(pem: pem)
            return key
        } catch {
            throw VaultError(.key, error.problem, at: path.string, remedy: error.remedy)
        }
    }

    private func open(_ path: FilePath, of role: TopLevelRole) throws(VaultError) -> OpenFile {
        do throws(VaultError) {
            let file = try OpenFile(reading: path)
            return file
        } catch {
            throw VaultError(
                .key, "the signing key of the \(role.rawValue) role can't be read: \(error.problem)",
                at: path.string, remedy: "restore it from your backup, or publish where it is kept")
        }
    }
}
