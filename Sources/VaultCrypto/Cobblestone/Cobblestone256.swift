/// Cobblestone-256: C2SP chunked encryption with AES-256-GCM and HKDF-Expand-SHA-512
/// (https://c2sp.org/chunked-encryption).
///
/// A sealed message is a salt (24 bytes), a commitment to key, salt and context (32 bytes), and one AES-256-GCM
/// ciphertext for each 16 KiB of the message; the last one is always shorter, and may have only its tag.
/// So each chunk can be opened by itself, and a truncated or extended message does not open.
public enum Cobblestone256 {
    public static let keyLength = 32
    public static let saltLength = 24
    /// Salt and commitment.
    public static let headerLength = 56
    public static let chunkLength = 16_384
    public static let sealedChunkLength = chunkLength + AES256GCM.tagLength

    /// At most 2^38 chunks, the last one not full: 4 PiB less one byte.
    static let maximalChunks: UInt64 = 1 << 38

    /// Bytes of the sealed message; nil for a message over the limit of 4 PiB - 1.
    public static func sealedLength(ofMessage count: UInt64) -> UInt64? {
        let fullChunks = count / UInt64(chunkLength)
        guard fullChunks < maximalChunks else { return nil }
        return UInt64(headerLength) + count + (fullChunks + 1) * UInt64(AES256GCM.tagLength)
    }

    /// Bytes of the plaintext; nil for a length that no sealed message has.
    public static func messageLength(ofSealed count: UInt64) -> UInt64? {
        guard count >= UInt64(headerLength) else { return nil }
        let body = count - UInt64(headerLength)
        let (fullChunks, lastChunk) = body.quotientAndRemainder(dividingBy: UInt64(sealedChunkLength))
        guard fullChunks < maximalChunks, lastChunk >= UInt64(AES256GCM.tagLength) else { return nil }
        return body - (fullChunks + 1) * UInt64(AES256GCM.tagLength)
    }
}
