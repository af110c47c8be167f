import SystemPackage
import UpdateFramework
import VaultCrypto
import VaultErrors
import VaultFileSystem
import VaultKeys

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
        guard Ed25519PrivateKey.isEncrypted(pem: pem) else {
            self.init(try Self.naming(path) { () throws(VaultError) in try Ed25519PrivateKey(pem: pem) })
            return
        }
        guard let passphrase else {
            throw VaultError(
                .key, "this signing key is encrypted", at: path.string,
                remedy: "give its passphrase", hint: .passphrase)
        }
        // A failure to get it names its own source.
        let secret = try passphrase.passphrase()
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
                .key, "others may read this signing key", at: path.string,
                remedy: "run: chmod 600 \(path.string)")
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
        if let passphrase {
            let secret = try passphrase.passphrase()
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
