import VaultErrors

/// The cipher, base nonce and commitment that Cobblestone-256 derives for one message.
struct MessageKeys: ~Copyable, Sendable {
    private static let label = [UInt8]("c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0".utf8)

    let commitment: [UInt8]
    var cipher: GCMCipher
    private let baseNonce: InlineArray<12, UInt8>

    /// `key || base nonce || commitment = HKDF-Expand(input key, label || salt || context)`.
    init(
        _ direction: GCMCipher.Direction, salt: Span<UInt8>, context: [UInt8],
        key inputKey: borrowing SecretBytes, hash: HKDF.Hash
    ) throws(VaultError) {
        guard inputKey.count == Cobblestone256.keyLength else {
            throw VaultError(
                .key, "the key has \(inputKey.count) bytes", at: "Cobblestone-256",
                remedy: "use one of 32 bytes")
        }
        var info = Self.label
        info.reserveCapacity(info.count + salt.count + context.count)
        for index in salt.indices { info.append(salt[index]) }
        info.append(contentsOf: context)
        let derived = try HKDF.expand(inputKey, with: hash, info: info.span, count: 32 + 12 + 32)
        cipher = derived.withBytes { GCMCipher(direction, key: $0.extracting(0..<32)) }
        baseNonce = derived.withBytes { bytes in InlineArray { bytes[32 + $0] } }
        commitment = derived.withBytes { bytes in (44..<76).map { bytes[$0] } }
    }

    func isCommitted(by commitment: Span<UInt8>) -> Bool {
        SecretBytes.constantTimeEqual(self.commitment.span, commitment)
    }

    /// Begins a chunk: its nonce is the base nonce XOR its number, big-endian.
    mutating func begin(chunk number: UInt64) {
        var nonce = baseNonce
        for place in 0..<8 {
            nonce[11 - place] ^= UInt8(truncatingIfNeeded: number >> (8 * place))
        }
        cipher.begin(nonce: nonce.span)
    }
}
