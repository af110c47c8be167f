import UpdateFramework
import VaultCrypto

/// A private key that can be stored in arrays.
final class SigningKey: Sendable {
    private let key = Ed25519PrivateKey()

    var publicKey: Ed25519PublicKey { key.publicKey }

    /// The key's ID in metadata.
    var id: String { MetadataKey(VerifyingKey(publicKey)).id.description }

    func sign(_ message: [UInt8]) -> [UInt8] {
        (try? key.sign(message.span)) ?? []
    }

    func withKey<Result>(_ body: (borrowing Ed25519PrivateKey) throws -> Result) rethrows -> Result {
        try body(key)
    }
}
