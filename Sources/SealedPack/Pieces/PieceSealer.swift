package import VaultBase
package import VaultCrypto

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
    private func ciphertext(of plain: [UInt8], digest: SHA256Digest) throws(VaultError) -> [UInt8] {
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

/// How strongly pieces are compressed; readers need not know it.
public enum Compression: String, Sendable, CaseIterable {
    case uncompressed = "none"
    case fast
    case standard = "default"
    case max

    /// The zstd level; nil leaves pieces as they are.
    var level: Int? {
        switch self {
        case .uncompressed: nil
        case .fast: 1
        case .standard: 3
        case .max: 19
        }
    }

    /// A piece as it is encrypted; nil where it stays as it is.
    func encode(_ plain: [UInt8]) throws(VaultError) -> (codec: PieceCodec, data: [UInt8])? {
        var data: [UInt8] = []
        guard let level, try Zstd.compress(plain.span, level: level, appendingTo: &data) else { return nil }
        return (.zstd, data)
    }
}

/// The encoding of a piece or catalog in its message; the message's first byte. A further codec needs the next version of
/// the format: see "How the format grows" in <doc:Format>.
enum PieceCodec: UInt8, Sendable {
    case uncompressed = 0
    case zstd = 1

    /// The codec of a decrypted message. Throws `.corrupt`.
    init(ofMessage message: [UInt8], at place: String) throws(VaultError) {
        guard let first = message.first else {
            throw VaultError(.corrupt, "a message is empty", at: place, remedy: "do not use this pack")
        }
        guard let codec = PieceCodec(rawValue: first) else {
            throw .unsupportedFormat("the pack uses codec \(first), which is unknown", at: place)
        }
        self = codec
    }

    /// The content of the data that begins at `start` in a decrypted message. Throws `.corrupt`.
    ///
    /// - Parameter count: its length in bytes, which uncompressed data may differ from.
    func decode(
        _ message: [UInt8], from start: Int, exactly count: Int
    ) throws(VaultError) -> ArraySlice<UInt8> {
        switch self {
        case .uncompressed: message.dropFirst(start)
        case .zstd: try Zstd.decompress(message.span.extracting(start...), exactly: count)[...]
        }
    }
}

/// The byte ranges of a pack's pieces, from its index: 8 bytes a piece.
struct PieceRanges: Sendable {
    private let ends: [UInt64]

    /// Throws `.corrupt` for an index that is impossible, or whose digest is not that of the footer.
    init(of pack: PackFile) throws(VaultError) {
        var ends: [UInt64] = []
        ends.reserveCapacity(Int(pack.pieceCount))
        try pack.forEachIndexRecord { _, record, offset in
            ends.append(offset + UInt64(record.ciphertextLength))
        }
        self.ends = ends
    }

    var count: Int { ends.count }

    /// The end of the last piece; the offset of the first one if there is none.
    var end: UInt64 { ends.last ?? PackLayout.piecesOffset }

    /// Empty for a piece that the pack does not have.
    subscript(number: Int) -> Range<UInt64> {
        guard ends.indices.contains(number) else { return 0..<0 }
        return (number == 0 ? PackLayout.piecesOffset : ends[number - 1])..<ends[number]
    }

    /// The first piece that ends after `position`; ``count`` when there is none.
    func first(endingAfter position: UInt64) -> Int {
        ends.indices.partitionPoint { ends[$0] > position }
    }
}

/// Finds pieces of a pack by the digest of their plaintext: 4 bytes a piece.
struct PiecesByPlaintext: Sendable {
    private let catalog: Catalog
    /// Piece numbers, sorted by plaintext digest.
    private let order: [UInt32]

    init(of catalog: Catalog) {
        self.catalog = catalog
        order = (0..<UInt32(catalog.pieceCount)).sorted { left, right in
            catalog.digestBytes(Int(left)).lexicographicallyPrecedes(catalog.digestBytes(Int(right)))
        }
    }

    /// A piece whose plaintext has this digest.
    func piece(of digest: some Sequence<UInt8>) -> Int? {
        let first = order.indices.partitionPoint {
            !catalog.digestBytes(Int(order[$0])).lexicographicallyPrecedes(digest)
        }
        guard first < order.count else { return nil }
        let number = Int(order[first])
        return catalog.digestBytes(number).elementsEqual(digest) ? number : nil
    }
}

/// The pieces of the previous version, by the digest of their plaintext.
package struct PreviousPieces: Sendable {
    private let previous: OpenPack
    private let pieces: PiecesByPlaintext

    package init(_ previous: OpenPack) {
        self.previous = previous
        pieces = PiecesByPlaintext(of: previous.catalog)
    }

    /// The piece whose plaintext has this digest.
    func piece(of digest: SHA256Digest) -> Int? { pieces.piece(of: digest.bytes) }

    /// SHA-256 of a piece's ciphertext, from the index.
    func digest(ofPiece number: Int) throws(VaultError) -> SHA256Digest {
        try previous.pack.digest(ofPiece: number)
    }

    /// A piece's ciphertext. It is decrypted first and its plaintext verified, as it may be damaged, and an author with the
    /// content key could have made a catalog that describes it wrongly: nil then.
    func verifiedCiphertext(ofPiece number: Int) throws(VaultError) -> [UInt8]? {
        let ciphertext = try previous.ciphertext(ofPiece: number)
        let isSound = (try? previous.plaintext(ofPiece: number, ciphertext: ciphertext.span)) != nil
        return isSound ? ciphertext : nil
    }
}
