import VaultArchive
import VaultCrypto
import VaultErrors

/// How hard to try to make pieces smaller.
public struct Compression: Sendable, Hashable {
    /// The zstd level.
    let level: Int

    public static let standard = Compression(level: 3)
}

/// A piece as it stands in the pack, with what index and catalog say of it.
struct SealedPiece: Sendable {
    let ciphertext: [UInt8]
    let digest: Digest
    let plainCount: Int
    let plainDigest: Digest
    let isReused: Bool
}

/// Turns the plaintext of a piece into its ciphertext, the same one each time.
struct PieceSealer: Sendable {
    static let context = Array("assetvault/v1/piece".utf8)

    let key: ContentKey
    let compression: Compression
    /// The pack whose unchanged pieces are taken over byte for byte.
    let previous: PieceReuse?

    func seal(_ plain: [UInt8]) throws(VaultError) -> SealedPiece {
        let plainDigest = SHA256.hash(plain.span)
        if let ciphertext = try previous?.ciphertext(of: plain, digest: plainDigest) {
            return SealedPiece(
                ciphertext: ciphertext, digest: SHA256.hash(ciphertext.span), plainCount: plain.count,
                plainDigest: plainDigest, isReused: true)
        }
        var message: [UInt8] = [PieceCodec.zstd.rawValue]
        guard try Zstd.compress(plain.span, level: compression.level, appendingTo: &message) else {
            return try sealStored(plain, digest: plainDigest)
        }
        return try seal(message, of: plain, plainDigest, SHA256.hash(message.span.extracting(1...)))
    }

    /// Seals a piece without compressing it.
    func sealStored(_ plain: [UInt8], digest: Digest) throws(VaultError) -> SealedPiece {
        try seal([PieceCodec.stored.rawValue] + plain, of: plain, digest, digest)
    }

    private func seal(
        _ message: [UInt8], of plain: [UInt8], _ plainDigest: Digest, _ dataDigest: Digest
    ) throws(VaultError) -> SealedPiece {
        let salt = MessageSalt.make(
            context: Self.context, codec: message[0], dataDigest: dataDigest, key: key)
        let ciphertext = try Cobblestone256.seal(
            message.span, salt: salt, context: Self.context, key: key.pieceKey)
        return SealedPiece(
            ciphertext: ciphertext, digest: SHA256.hash(ciphertext.span), plainCount: plain.count,
            plainDigest: plainDigest, isReused: false)
    }
}

/// The deterministic salt of a message: the first 24 bytes of HMAC-SHA-256(salt key,
/// u64be(length of context) || context || codec || SHA-256(data)), data being exactly the bytes that are encrypted.
/// Two different messages under one content key never share a salt, so they never share a key and nonce.
enum MessageSalt {
    static func make(context: [UInt8], codec: UInt8, dataDigest: Digest, key: ContentKey) -> [UInt8] {
        var input: [UInt8] = []
        input.reserveCapacity(8 + context.count + 1 + 32)
        input.appendBigEndian(UInt64(context.count))
        input += context
        input.append(codec)
        dataDigest.append(to: &input)
        var authenticator = HMACSHA256(key: key.saltKey)
        return Array(authenticator.authenticate(input.span).bytes.prefix(Cobblestone256.saltCount))
    }
}
