import VaultBytes
import VaultErrors

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
                remedy: "check the file's name and its download")
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
                remedy: "repair the pack, or fetch it again")
        }
    }
}
