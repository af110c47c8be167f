import SealedPack
import VaultCrypto

/// A content key with a known secret, so that tests can compute what the format specifies.
struct TestKey {
    let secret: [UInt8]

    init(_ seed: UInt8 = 7) { secret = [UInt8](repeating: seed, count: 32) }

    func derive(_ name: String, _ count: Int = 32) throws -> [UInt8] {
        let key = SecretBytes(copying: secret.span)
        let derived = try HKDF.expandSHA512(key, info: Array("assetvault/v1/\(name)".utf8).span, count: count)
        var bytes: [UInt8] = []
        derived.withBytes { span in for index in span.indices { bytes.append(span[index]) } }
        return bytes
    }

    var id: ContentKeyID {
        get throws { try ContentKeyID(try derive("key-id", 16), place: "test") }
    }

    /// Yields the content key by itself.
    var provider: InMemoryKeyProvider {
        get throws {
            let id = try derive("key-id", 16)
            let key = try InjectedContentKey(contentKeyID: id, secret: SecretBytes(copying: secret.span))
            return InMemoryKeyProvider(KeyRing(contentKeys: [key]))
        }
    }

    func contentKey() async throws -> ContentKey {
        let keys: any KeyProvider = try provider
        return try await keys.contentKey(try id, slots: [], place: "test")
    }

    /// A Cobblestone message under one of the derived keys.
    func message(_ plain: [UInt8], context: [UInt8], under name: String) throws -> [UInt8] {
        let secret = try derive(name)
        let key = SecretBytes(copying: secret.span)
        let salt = Array(([1] + plain + context).sha256.prefix(24))
        return try Cobblestone256.seal(plain.span, salt: salt, context: context, key: key)
    }

    func opened(_ sealed: [UInt8], context: [UInt8], under name: String) throws -> [UInt8] {
        let secret = try derive(name)
        let key = SecretBytes(copying: secret.span)
        return try Cobblestone256.open(sealed.span, context: context, key: key)
    }

    /// A piece's message; `message` is codec and data.
    func piece(_ message: [UInt8]) throws -> [UInt8] {
        try self.message(message, context: Array("assetvault/v1/piece".utf8), under: "piece")
    }
}

/// A vault key of known bytes.
func vaultKey(_ name: String, seed: UInt8) throws -> VaultKey {
    let bytes = [UInt8](repeating: seed, count: 32)
    let id = try KeyID(name)
    return try VaultKey(id: id, secret: SecretBytes(copying: bytes.span))
}
