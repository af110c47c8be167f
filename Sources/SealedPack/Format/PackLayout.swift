public import VaultBase
package import VaultCrypto

/// The offsets of a pack's parts, which follow from its length, its number of pieces and its catalog's length.
package struct PackLayout: Equatable, Sendable {
    package let packLength: UInt64
    package let pieceCount: UInt32
    package let catalogLength: UInt64
    let indexOffset: UInt64
    package let catalogOffset: UInt64
    package let footerOffset: UInt64

    static let piecesOffset = UInt64(PackHeader.length)

    /// Throws `.corrupt` when the numbers contradict each other or exceed the limits.
    package init(packLength: UInt64, pieceCount: UInt32, catalogLength: UInt64, place: String)
        throws(VaultError)
    {
        func refuse(_ problem: String) -> VaultError {
            VaultError(
                .corrupt, problem, at: place, remedy: "fetch the pack and its manifest again",
                code: "damaged-layout")
        }
        guard pieceCount <= FormatLimits.maximumPieces else {
            throw refuse("it states \(pieceCount) pieces, too many")
        }
        guard catalogLength <= FormatLimits.maximumCatalogCiphertextLength else {
            throw refuse("it states a catalog of \(catalogLength) bytes, too many")
        }
        let fixed = UInt64(PackHeader.length + PackFooter.length)
        let tail = UInt64(pieceCount) * UInt64(IndexRecord.length) + catalogLength
        guard packLength <= UInt64(Int64.max), packLength >= fixed, packLength - fixed >= tail else {
            throw refuse("its \(packLength) bytes can't hold the parts that it states")
        }
        guard catalogLength > 0, pieceCount > 0 || packLength - fixed == tail else {
            throw refuse("it states no pieces, or no catalog, for its \(packLength) bytes")
        }
        self.packLength = packLength
        self.pieceCount = pieceCount
        self.catalogLength = catalogLength
        footerOffset = packLength - UInt64(PackFooter.length)
        catalogOffset = footerOffset - catalogLength
        indexOffset = footerOffset - tail
    }
}

/// The first 64 bytes of a pack: `magic 8 | version u16 | suite u16 | header length u32 |
/// content key ID 16 | zero 32`.
package struct PackHeader: Equatable, Sendable {
    package static let length = 64
    static let magic: [UInt8] = [0x89, 0x41, 0x56, 0x50, 0x0D, 0x0A, 0x1A, 0x0A]
    static let version: UInt16 = 1
    /// Cobblestone-256 pieces, SHA-256 digests.
    static let suite: UInt16 = 1

    let contentKeyID: ContentKeyID

    package init(contentKeyID: ContentKeyID) { self.contentKeyID = contentKeyID }

    package var bytes: [UInt8] {
        var bytes = Self.magic
        bytes.appendBigEndian(Self.version)
        bytes.appendBigEndian(Self.suite)
        bytes.appendBigEndian(UInt32(Self.length))
        bytes += contentKeyID.bytes
        bytes += [UInt8](repeating: 0, count: Self.length - bytes.count)
        return bytes
    }

    /// Reads a header of exactly `length` bytes. Throws `.corrupt` for bytes that this version would not write.
    init(parsing bytes: Span<UInt8>, place: String) throws(VaultError) {
        guard bytes.count == Self.length, bytes.extracting(0..<8).equals(Self.magic) else {
            throw VaultError(
                .corrupt, "the file is not an asset pack", at: place,
                remedy: "check the file's name and its download", code: "no-pack")
        }
        guard let version = bytes.bigEndian(UInt16.self, at: 8), version == Self.version else {
            throw .unsupportedFormat(
                "pack format version \(bytes.bigEndian(UInt16.self, at: 8) ?? 0) is unknown", at: place)
        }
        guard let suite = bytes.bigEndian(UInt16.self, at: 10), suite == Self.suite else {
            throw .unsupportedFormat(
                "cipher suite \(bytes.bigEndian(UInt16.self, at: 10) ?? 0) is unknown", at: place)
        }
        var id: [UInt8] = []
        id.append(copying: bytes.extracting(16..<32))
        self.init(contentKeyID: try ContentKeyID(id, place: place))
        guard bytes.equals(self.bytes) else {
            throw VaultError(
                .corrupt, "the header's reserved bytes are not zero", at: place,
                remedy: "repair the pack, or fetch it again", code: "damaged-header")
        }
    }
}

/// The last 128 bytes of a pack: `index offset u64 | piece count u32 | zero u32 | catalog offset u64 |
/// catalog length u64 | SHA-256 of the index 32 | SHA-256 of the catalog's ciphertext 32 | zero 24 | magic 8`.
package struct PackFooter: Sendable {
    package static let length = 128

    package let layout: PackLayout
    package let indexDigest: SHA256Digest
    package let catalogDigest: SHA256Digest

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.length)
        bytes.appendBigEndian(layout.indexOffset)
        bytes.appendBigEndian(layout.pieceCount)
        bytes.appendBigEndian(UInt32(0))
        bytes.appendBigEndian(layout.catalogOffset)
        bytes.appendBigEndian(layout.catalogLength)
        indexDigest.append(to: &bytes)
        catalogDigest.append(to: &bytes)
        bytes += [UInt8](repeating: 0, count: 24)
        bytes += PackHeader.magic
        return bytes
    }

    package init(layout: PackLayout, indexDigest: SHA256Digest, catalogDigest: SHA256Digest) {
        self.layout = layout
        self.indexDigest = indexDigest
        self.catalogDigest = catalogDigest
    }

    /// Reads the footer of a pack of `packLength` bytes. Throws `.corrupt` when any byte differs from the footer of the
    /// stated layout.
    init(parsing bytes: Span<UInt8>, packLength: UInt64, place: String) throws(VaultError) {
        guard bytes.count == Self.length,
            let pieceCount = bytes.bigEndian(UInt32.self, at: 8),
            let catalogLength = bytes.bigEndian(UInt64.self, at: 24),
            let indexDigest = SHA256Digest(bytes.extracting(32..<64)),
            let catalogDigest = SHA256Digest(bytes.extracting(64..<96))
        else { throw Self.refusal(at: place) }
        let layout = try PackLayout(
            packLength: packLength, pieceCount: pieceCount, catalogLength: catalogLength, place: place)
        self.init(layout: layout, indexDigest: indexDigest, catalogDigest: catalogDigest)
        guard bytes.equals(self.bytes) else { throw Self.refusal(at: place) }
    }

    static func refusal(at place: String) -> VaultError {
        VaultError(
            .corrupt, "the pack's footer is damaged or the pack is cut short", at: place,
            remedy: "repair the pack, or fetch it again", code: "damaged-footer")
    }
}

/// One piece in the index: `ciphertext length u32 | SHA-256 of the ciphertext 32`.
package struct IndexRecord: Equatable, Sendable {
    package static let length = 36

    let ciphertextLength: UInt32
    let digest: SHA256Digest

    package init(ciphertextLength: UInt32, digest: SHA256Digest) {
        self.ciphertextLength = ciphertextLength
        self.digest = digest
    }

    /// Throws `.corrupt` when no piece can have the stated length. A piece's message is one codec byte and 1 to
    /// `maximumPieceLength` bytes; `Cobblestone256`, the cipher (see Format.md), says how long it is once sealed.
    init(parsing bytes: Span<UInt8>, place: String) throws(VaultError) {
        guard let count = bytes.bigEndian(UInt32.self, at: 0), bytes.count == Self.length,
            let digest = SHA256Digest(bytes.extracting(4..<36)),
            let messageLength = Cobblestone256.messageLength(ofSealed: UInt64(count)),
            messageLength >= 2, messageLength <= UInt64(FormatLimits.maximumPieceLength + 1)
        else {
            throw VaultError(
                .corrupt, "the index states a piece of impossible length", at: place,
                remedy: "repair the pack, or fetch it again", code: "damaged-index")
        }
        self.init(ciphertextLength: count, digest: digest)
    }

    package func append(to bytes: inout [UInt8]) {
        bytes.appendBigEndian(ciphertextLength)
        digest.append(to: &bytes)
    }
}

/// The limits of format version 1; a pack beyond them is refused, never truncated.
public enum FormatLimits {
    /// The largest integer that every JSON implementation supports (2^53 - 1).
    public static let maximumVersion: UInt64 = (1 << 53) - 1
    public static let maximumPieces: UInt32 = 1 << 21
    public static let maximumEntries: UInt32 = 1 << 22
    /// Plaintext bytes of one piece.
    public static let maximumPieceLength = 16 << 20
    /// Bytes of a catalog, which is kept in memory as a whole.
    public static let maximumCatalogLength = 64 << 20
    /// Bytes of the ciphertext of the largest catalog and its codec.
    static let maximumCatalogCiphertextLength =
        Cobblestone256.sealedLength(ofMessage: UInt64(maximumCatalogLength) + 1) ?? 0
    /// A catalog's zstd frame expands to at most this multiple of its length, which bounds the memory of a reader.
    static let maximumCatalogExpansion = 16
    /// Slots of a manifest: each may cost a request to a key service.
    public static let maximumSlots = 64
}

extension VaultError {
    /// A part of the format that this release does not support, in an undamaged pack.
    package static func unsupportedFormat(_ problem: String, at place: String) -> VaultError {
        VaultError(
            .corrupt, problem, at: place, remedy: "use a newer release of this program", code: .newerFormat)
    }

    /// Whether the pack is undamaged, so that another copy of it would be refused as well.
    public var needsNewerRelease: Bool { code == .newerFormat }
}

extension Finding.Code {
    fileprivate static let newerFormat: Self = "newer-format"
}
