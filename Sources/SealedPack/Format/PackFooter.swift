import VaultBytes
package import VaultCrypto
import VaultErrors

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
            remedy: "repair the pack, or fetch it again")
    }
}
