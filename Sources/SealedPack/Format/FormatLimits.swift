import VaultCrypto

/// The numbers that format version 1 fixes; a pack beyond them is refused, never truncated.
public enum FormatLimits {
    /// The largest pack version: what JSON integers carry everywhere (2^53 - 1).
    public static let maximumVersion: UInt64 = (1 << 53) - 1
    public static let maximumPieces: UInt32 = 1 << 21
    public static let maximumEntries: UInt32 = 1 << 22
    /// The most plaintext bytes of one piece.
    public static let maximumPieceCount = 16 << 20
    /// The most bytes of a catalog: it is held in memory as a whole.
    public static let maximumCatalogBytes = 64 << 20
    /// The most bytes of a catalog's ciphertext: those of the largest catalog with its codec.
    static let maximumCatalogCount =
        Cobblestone256.sealedCount(ofMessage: UInt64(maximumCatalogBytes) + 1) ?? 0
    /// A catalog's zstd frame expands to so many times its length at most: what a reader reserves follows from what was
    /// downloaded.
    static let maximumCatalogExpansion = 16
    /// The most slots of a manifest: each may be a question to a key service.
    public static let maximumSlots = 64
}
