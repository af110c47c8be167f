/// The numbers that format version 1 fixes; a pack beyond them is refused, never truncated.
public enum FormatLimits {
    /// The largest pack version: what JSON integers carry everywhere (2^53 - 1).
    public static let maximumVersion: UInt64 = (1 << 53) - 1
    public static let maximumPieces: UInt32 = 1 << 21
    public static let maximumEntries: UInt32 = 1 << 22
    /// The most plaintext bytes of one piece.
    public static let maximumPieceCount = 16 << 20
    /// The most bytes of a catalog's ciphertext.
    public static let maximumCatalogCount: UInt64 = 1 << 31
}

/// How a piece's data stands in its message; the message's first byte.
enum PieceCodec: UInt8, Sendable {
    case stored = 0
    case zstd = 1
}
