import StrictJSON
import SystemPackage
public import UpdateFramework
import VaultCrypto
public import VaultErrors
import VaultFileSystem
import VaultKeys

extension VaultFolder {
    /// Makes a vault: settings, fresh keys, and the root of trust that they sign. The folder may exist if it is empty.
    public func create(now: UTCTime) async throws(VaultError) {
        if try FileSystem.exists(path) {
            guard try Folder(opening: path).names().isEmpty else {
                throw VaultError(
                    .unwritable, "the folder is not empty", at: path.string,
                    remedy: "choose a new or an empty folder")
            }
        }
        try FileSystem.createFolders(path, permissions: 0o755)
        try FileSystem.createFolders(keys, permissions: 0o700)
        try DurableFile.write(
            Array("*\n".utf8).span, to: keys.appending(".gitignore"), permissions: 0o644, replacing: false)
        try VaultKeyFile.generate(at: vaultKeys)
        for role in TopLevelRole.allCases {
            let pem = try Ed25519PrivateKey().pem()
            let path = signingKey(of: role)
            try pem.withBytes { bytes throws(VaultError) in
                try DurableFile.write(bytes, to: path, permissions: 0o600, replacing: false)
            }
        }
        let lifetime = MetadataLifetime()
        let root = try SigningKeys(of: self).root(
            version: 1, expires: lifetime.expiry(of: .root, signedAt: now))
        try FileSystem.createFolders(metadata, permissions: 0o755)
        try FileSystem.createFolders(targets, permissions: 0o755)
        try DurableFile.write(
            root.bytes.span, to: metadata.appending(root.hostedName), permissions: 0o644, replacing: false)
        try DurableFile.write(root.bytes.span, to: trustedRoot, permissions: 0o644, replacing: false)
        try DurableFile.write(
            JSONValue.object(VaultSettings.fresh).pretty().span, to: settings, permissions: 0o644,
            replacing: false)
    }
}
