import SystemPackage
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultFileSystem

/// The signing keys in a vault's `keys/`, each PEM file read once. The metadata decides for which role a key signs,
/// not the file's name.
struct SigningKeys {
    private let vault: VaultFolder
    private var keys: [FilePath: SigningKey] = [:]
    /// Files that could not be read.
    private var failures: [FilePath: VaultError] = [:]

    init(of vault: VaultFolder) throws(VaultError) {
        self.vault = vault
        for name in try Folder(opening: vault.keys).names().map({ String(decoding: $0, as: UTF8.self) })
        where name.hasSuffix(".pem") {
            let path = vault.keys.appending(name)
            do throws(VaultError) {
                keys[path] = try SigningKey(reading: path, passphrase: vault.passphrase)
            } catch {
                failures[path] = error
            }
        }
    }

    func sign(_ file: SignedMetadata, for trusts: [RoleTrust]) throws(VaultError) -> SignedMetadata {
        var file = file
        for (_, key) in keys.sorted(by: { $0.key.string < $1.key.string }) {
            file = try key.sign(file, for: trusts)
        }
        return file
    }

    /// The public key of a file; nil for a missing file. Throws `key` for an unreadable one.
    func publicKey(at path: FilePath) throws(VaultError) -> VerifyingKey? {
        if let failure = failures[path] { throw failure }
        return keys[path]?.publicKey
    }

    /// Of all files that could be read.
    var publicKeys: [VerifyingKey] { keys.values.map(\.publicKey) }

    /// The key in the role's own file.
    func ownKey(of role: MetadataRole) throws(VaultError) -> VerifyingKey {
        guard let key = try publicKey(at: vault.signingKey(of: role)) else {
            throw missing(role, remedy: "restore it from your backup")
        }
        return key
    }

    /// Makes a key in a file that does not exist yet.
    mutating func generate(at path: FilePath) throws(VaultError) -> VerifyingKey {
        let key = try SigningKey(generatingAt: path, passphrase: vault.passphrase)
        keys[path] = key
        return key.publicKey
    }

    mutating func move(_ path: FilePath, to other: FilePath, replacing: Bool) throws(VaultError) {
        try FileSystem.move(path, to: other, replacing: replacing)
        keys[other] = keys.removeValue(forKey: path)
        failures[other] = failures.removeValue(forKey: path)
    }

    /// Why a role can't be signed with the keys at hand.
    ///
    /// - Parameters:
    ///   - delegator: the name of the metadata that names the keys.
    func failure(for role: MetadataRole, delegatedBy delegator: String, remedy: String, hint: Hint? = nil)
        -> VaultError
    {
        let path = vault.signingKey(of: role)
        // An unreadable file may hold the missing key.
        let others = failures.sorted { $0.key.string < $1.key.string }.first?.value
        if let failure = failures[path] ?? others { return failure }
        guard keys[path] != nil else { return missing(role, remedy: remedy, hint: hint) }
        return VaultError(
            .key, "it is not a key, or not enough of them, that \(delegator) names for this role",
            at: path.string, remedy: remedy, hint: hint)
    }

    private func missing(_ role: MetadataRole, remedy: String, hint: Hint? = nil) -> VaultError {
        VaultError(
            .key, "the signing key of the role \(role) is not here", at: vault.signingKey(of: role).string,
            remedy: remedy, hint: hint)
    }
}

/// A signing key, read from a PEM file (PKCS#8).
final class SigningKey: Sendable {
    private static let limit = 1 << 16

    let publicKey: VerifyingKey
    private let key: Ed25519PrivateKey

    /// - Parameter passphrase: asked for only if the file is encrypted.
    /// - Throws: `key` when the file can't be read, may be read by others, is encrypted and no passphrase is given, or
    ///   holds no Ed25519 key.
    convenience init(reading path: FilePath, passphrase: PassphraseSource?) throws(VaultError) {
        let pem = try Self.naming(path) { () throws(VaultError) in try Self.read(path) }
        guard pem.firstVisibleByte != UInt8(ascii: "{") else {
            throw VaultError(
                .key, "is no PEM file, but JSON, as vault keys are", at: path.string,
                remedy: "name the file of a signing key, such as keys/targets.pem")
        }
        guard Ed25519PrivateKey.isEncrypted(pem: pem) else {
            self.init(try Self.naming(path) { () throws(VaultError) in try Ed25519PrivateKey(pem: pem) })
            return
        }
        guard let passphrase else {
            throw VaultError(
                .key, "this signing key is encrypted", at: path.string,
                remedy: "give its passphrase", hint: .passphrase)
        }
        // An error of the passphrase's source names that source.
        let secret = try passphrase.passphrase(for: .existing(path.string))
        self.init(
            try Self.naming(path) { () throws(VaultError) in
                try Ed25519PrivateKey(pem: pem, passphrase: secret)
            })
    }

    private init(_ key: consuming Ed25519PrivateKey) {
        publicKey = VerifyingKey(key.publicKey)
        self.key = key
    }

    private static func read(_ path: FilePath) throws(VaultError) -> SecretBytes {
        let file = try OpenFile(reading: path)
        guard try file.status().permissions & 0o077 == 0 else {
            throw VaultError(
                .key, "other users may read this signing key", at: path.string,
                remedy: "run: chmod 600 \(path.string.quotedForShell)")
        }
        return try SecretBytes(capacity: limit) { room throws(VaultError) in
            try file.read(into: &room, at: 0)
        }
    }

    /// Makes each error name this key file.
    private static func naming<Value: ~Copyable>(
        _ path: FilePath, _ body: () throws(VaultError) -> Value
    ) throws(VaultError) -> Value {
        do throws(VaultError) { return try body() } catch {
            throw VaultError(.key, error.problem, at: path.string, remedy: error.remedy)
        }
    }

    /// Makes a key in a new file. Throws `unwritable` when the file exists.
    convenience init(generatingAt path: FilePath, passphrase: PassphraseSource?) throws(VaultError) {
        let key = Ed25519PrivateKey()
        let pem: SecretBytes
        if let passphrase, passphrase.encryptsNewFiles {
            let secret = try passphrase.passphrase(for: .new(path.string))
            pem = try key.pem(encryptedWith: secret)
        } else {
            pem = try key.pem()
        }
        try pem.withBytes { bytes throws(VaultError) in
            try DurableFile.write(bytes, to: path, permissions: 0o600, replacing: false)
        }
        self.init(key)
    }

    /// Adds this key's signature under each ID that these roles have for the key.
    func sign(_ file: SignedMetadata, for trusts: [RoleTrust]) throws(VaultError) -> SignedMetadata {
        let ids = trusts.flatMap(\.keys).filter { $0.key == publicKey }.map(\.id)
        return ids.isEmpty ? file : try file.signed(with: key, as: ids)
    }
}
