import VaultBytes
package import VaultCrypto
import VaultErrors

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
                remedy: "repair the pack, or fetch it again")
        }
        self.init(ciphertextLength: count, digest: digest)
    }

    package func append(to bytes: inout [UInt8]) {
        bytes.appendBigEndian(ciphertextLength)
        digest.append(to: &bytes)
    }
}
