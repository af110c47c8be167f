/// Cobblestone-256: C2SP chunked encryption with AES-256-GCM and HKDF-Expand-SHA-512
/// (https://c2sp.org/chunked-encryption).
///
/// A sealed message is a salt (24 bytes), a commitment to key, salt and context (32 bytes), and one AES-256-GCM
/// ciphertext for each 16 KiB of the message; the last one is always shorter, and may be empty but for its tag.
/// So each chunk can be opened by itself, and a message that is cut off or lengthened does not open.
public enum Cobblestone256 {
    public static let keyCount = 32
    public static let saltCount = 24
    /// Salt and commitment.
    public static let headerCount = 56
    public static let chunkCount = 16_384
    public static let sealedChunkCount = chunkCount + AES256GCM.tagCount

    /// At most 2^38 chunks, the last one not full: 4 PiB less one byte.
    static let maximalChunks: UInt64 = 1 << 38

    /// Bytes of the sealed message; nil for a message over the limit of 4 PiB - 1.
    public static func sealedCount(ofMessage count: UInt64) -> UInt64? {
        let fullChunks = count / UInt64(chunkCount)
        guard fullChunks < maximalChunks else { return nil }
        return UInt64(headerCount) + count + (fullChunks + 1) * UInt64(AES256GCM.tagCount)
    }

    /// Bytes of the message inside; nil for a length that no sealed message has.
    public static func messageCount(ofSealed count: UInt64) -> UInt64? {
        guard count >= UInt64(headerCount) else { return nil }
        let body = count - UInt64(headerCount)
        let (fullChunks, lastChunk) = body.quotientAndRemainder(dividingBy: UInt64(sealedChunkCount))
        guard fullChunks < maximalChunks, lastChunk >= UInt64(AES256GCM.tagCount) else { return nil }
        return body - (fullChunks + 1) * UInt64(AES256GCM.tagCount)
    }
}
