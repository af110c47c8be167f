public import SystemPackage
public import UpdateFramework
public import VaultBase
import VaultCrypto
import VaultFileSystem

extension VaultFolder {
    /// Makes a vault: settings, keys, and the root of trust. The folder may be new or empty, or hold `vault.json` and
    /// `keys/`, which are used then.
    ///
    /// - Parameters:
    ///   - team: the role of another vault that this one publishes; such a vault has no root.
    ///   - manifests: describe its first packs, whose files are in the folder `source`.
    public func create(
        for team: MetadataRole? = nil, declaring manifests: [AppleManifest] = [], source: FilePath = "..",
        now: UTCTime
    ) async throws(VaultError) {
        let packs = try VaultSettings.packs(of: manifests, source: source)
        if !manifests.isEmpty, try FileSystem.exists(settings) {
            throw VaultError(
                .unwritable, "it has settings already", at: settings.string,
                remedy: "declare the packs in it, or choose a new folder")
        }
        if let status = try FileSystem.status(of: path, followingLinks: true) {
            guard status.kind == .folder else {
                throw VaultError(
                    .unwritable, "a file has that name", at: path.string,
                    remedy: "choose a new or an empty folder")
            }
            // A killed process may have left copies of keys.
            for folder in [path, keys, metadata]
            where try FileSystem.status(of: folder, followingLinks: true)?.kind == .folder {
                try Folder(opening: folder).removeAbandonedScratch()
            }
            // The trusted root is written last: without it the vault is incomplete.
            let known = ["keys", "vault.json", "site", ".lock"]
            let names = try Folder(opening: path).names().map { String(decoding: $0, as: UTF8.self) }
            guard
                !["vault.json", team.map { "\($0).pub.pem" } ?? "trusted-root.json"].allSatisfy(
                    names.contains)
            else {
                throw VaultError(
                    .unwritable, "it is a vault already", at: path.string,
                    remedy: "publish it, or choose a new folder", hint: .publishing)
            }
            if let other = names.first(where: { !known.contains($0) }) {
                throw VaultError(
                    .unwritable, "the folder holds '\(other)' already", at: path.string,
                    remedy: "choose a new or an empty folder")
            }
        }
        try FileSystem.createFolders(path, permissions: 0o755)
        try FileSystem.createFolders(keys, permissions: 0o700)
        try write(Array("*\n".utf8), to: keys.appending(".gitignore"))
        try write(JSONValue.object(VaultSettings.fresh(for: team, packs: packs)).pretty(), to: settings)
        if try !FileSystem.exists(vaultKeys) { try VaultKeyFile.generate(at: vaultKeys) }
        let roles = team.map { [$0] } ?? TopLevelRole.allCases.map { MetadataRole($0) }
        for role in roles where try !FileSystem.exists(signingKey(of: role)) {
            _ = try SigningKey(generatingAt: signingKey(of: role), passphrase: nil)
        }
        try FileSystem.createFolders(metadata, permissions: 0o755)
        try FileSystem.createFolders(targets, permissions: 0o755)
        guard let team else {
            return try pinFirstRoot(
                expires: try VaultSettings(reading: settings).lifetime.expiry(of: .root, signedAt: now))
        }
        // The file that the delegating vault needs.
        let key = try SigningKey(reading: signingKey(of: team), passphrase: nil)
        try write(Array(key.publicKey.pem.utf8), to: publicKey(of: team))
    }

    private func pinFirstRoot(expires: UTCTime) throws(VaultError) {
        let keys = try SigningKeys(of: self)
        var roles: [TopLevelRole: RoleTrust] = [:]
        for role in TopLevelRole.allCases {
            roles[role] = RoleTrust([MetadataKey(try keys.ownKey(of: MetadataRole(role)))])
        }
        let draft = try MetadataDraft.root(version: 1, expires: expires, roles: roles)
        let fresh = try keys.sign(SignedMetadata(draft), for: roles[.root].map { [$0] } ?? [])
        let root = metadata.appending(fresh.hostedName)
        try write(fresh.bytes, to: root)
        // An existing root is pinned only if it names the keys at hand.
        let bytes = try DurableFile.read(root, limit: MetadataRole.root.sizeLimit)
        let found = try VerifiedRoot(
            pinning: UnverifiedMetadata(parsing: bytes, as: .root, place: root.string))
        for role in TopLevelRole.allCases where found.trust(in: role) != roles[role] {
            throw VaultError(
                .untrusted,
                "this root names another \(role.rawValue) key than \(signingKey(of: MetadataRole(role)).string)",
                at: root.string, remedy: "restore the keys that belong to it, or remove site/ to begin anew")
        }
        try write(bytes, to: trustedRoot)
    }

    /// Writes a file unless it exists.
    private func write(_ bytes: [UInt8], to path: FilePath) throws(VaultError) {
        guard try !FileSystem.exists(path) else { return }
        try DurableFile.write(bytes.span, to: path, permissions: 0o644, replacing: false)
    }
}
