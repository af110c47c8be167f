import VaultBytes
package import VaultCrypto
package import VaultErrors

/// An encrypted piece with its values for index and catalog.
package struct SealedPiece: Sendable {
    package let ciphertext: [UInt8]
    package let digest: SHA256Digest
    package let plainLength: Int
    package let plainDigest: SHA256Digest
    /// Whether the ciphertext of the previous version was reused.
    package let isReused: Bool
    /// Whether it was sealed again to the bytes of the previous version.
    package var isRepeated = false
    /// The piece of the previous version with the same content in other bytes, which could not be reused.
    package var missed: Int? = nil
}

/// Compresses and encrypts pieces, deterministically.
package struct PieceSealer: Sendable {
    static let context = Array("assetvault/v1/piece".utf8)

    let key: ContentKey
    let compression: Compression
    /// The pack whose unchanged pieces are reused byte for byte.
    let previous: PreviousPieces?

    package init(key: ContentKey, compression: Compression, previous: PreviousPieces?) {
        self.key = key
        self.compression = compression
        self.previous = previous
    }

    package func seal(_ plain: [UInt8]) throws(VaultError) -> SealedPiece {
        let plainDigest = SHA256.hash(plain.span)
        let earlier = previous?.piece(of: plainDigest)
        if let earlier, let ciphertext = try previous?.verifiedCiphertext(ofPiece: earlier) {
            return SealedPiece(
                ciphertext: ciphertext, digest: SHA256.hash(ciphertext.span), plainLength: plain.count,
                plainDigest: plainDigest, isReused: true)
        }
        let ciphertext = try ciphertext(of: plain, digest: plainDigest)
        let digest = SHA256.hash(ciphertext.span)
        // The previous pack may have only its index; equal digests show that clients have the piece.
        var isRepeated = false
        if let earlier { isRepeated = try previous?.digest(ofPiece: earlier) == digest }
        return SealedPiece(
            ciphertext: ciphertext, digest: digest, plainLength: plain.count, plainDigest: plainDigest,
            isReused: false, isRepeated: isRepeated, missed: isRepeated ? nil : earlier)
    }

    /// - Parameter digest: that of `plain`.
    func ciphertext(of plain: [UInt8], digest: SHA256Digest) throws(VaultError) -> [UInt8] {
        guard let (codec, data) = try compression.encode(plain) else {
            return try encrypt(plain, codec: .uncompressed, digest: digest)
        }
        return try encrypt(data, codec: codec, digest: SHA256.hash(data.span))
    }

    /// The message `codec || data`, encrypted.
    private func encrypt(_ data: [UInt8], codec: PieceCodec, digest: SHA256Digest) throws(VaultError)
        -> [UInt8]
    {
        let salt = MessageSalt.make(
            context: Self.context, codec: codec.rawValue, dataDigest: digest, key: key)
        var sealer = try Cobblestone256.Sealer(salt: salt, context: Self.context, key: key.pieceKey)
        var ciphertext = sealer.header
        let count = Cobblestone256.sealedLength(ofMessage: 1 + UInt64(data.count)) ?? 0
        ciphertext.reserveCapacity(Int(count))
        let head = [codec.rawValue]
        try sealer.update(head.span, appendingTo: &ciphertext)
        try sealer.update(data.span, appendingTo: &ciphertext)
        sealer.finish(appendingTo: &ciphertext)
        return ciphertext
    }
}

/// The deterministic salt of a message: the first 24 bytes of HMAC-SHA-256(salt key,
/// u64be(length of context) || context || codec || SHA-256(data)), data being exactly the bytes that are encrypted.
/// Two different messages under one content key never share a salt, so they never share a key and nonce.
package enum MessageSalt {
    package static func make(context: [UInt8], codec: UInt8, dataDigest: SHA256Digest, key: ContentKey)
        -> [UInt8]
    {
        var input: [UInt8] = []
        input.reserveCapacity(8 + context.count + 1 + 32)
        input.appendBigEndian(UInt64(context.count))
        input += context
        input.append(codec)
        dataDigest.append(to: &input)
        var authenticator = HMACSHA256(key: key.saltKey)
        return Array(authenticator.authenticate(input.span).bytes.prefix(Cobblestone256.saltLength))
    }
}
