import VaultCrypto

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
