import VaultBytes

/// Checks a piece before a zstd decoder reads it (RFC 8878, section 3.1).
///
/// A decoder would reserve any window that a hostile frame requests, continue with a second frame, and skip skippable
/// ones; so all headers of the frame are checked first, without decoding.
struct ZstdFrame {
    /// The largest accepted window, 16 MiB, the size of the largest piece.
    static let maximumWindow: UInt64 = 16 << 20

    /// The error if `piece` is not exactly one frame of `count` bytes of content, else nil.
    static func flaw(in piece: Span<UInt8>, contentLength count: Int) -> StaticString? {
        guard let magic = piece.littleEndian(at: 0, byteLength: 4),
            let descriptor = piece.littleEndian(at: 4, byteLength: 1)
        else { return cutShort }
        // Skippable frames have other magic numbers.
        guard magic == 0xFD2F_B528 else { return "it is not a zstd frame" }
        guard descriptor & 0x08 == 0 else { return "a reserved bit of the zstd frame is set" }
        guard descriptor & 0x03 == 0 else { return "the zstd frame requires a dictionary" }

        let isSingleSegment = descriptor & 0x20 != 0
        var position = 5
        var window: UInt64 = 0
        if !isSingleSegment {
            guard let size = piece.littleEndian(at: position, byteLength: 1) else { return cutShort }
            let base: UInt64 = 1 << (10 + (size >> 3))
            window = base + base / 8 * (size & 7)
            position += 1
        }
        let sizeByteCount = [isSingleSegment ? 1 : 0, 2, 4, 8][Int(descriptor >> 6)]
        guard let size = piece.littleEndian(at: position, byteLength: sizeByteCount) else { return cutShort }
        position += sizeByteCount
        let declared = sizeByteCount == 2 ? size + 256 : size
        guard sizeByteCount == 0 || declared == UInt64(count) else {
            return "the zstd frame declares another length"
        }
        if isSingleSegment { window = declared }
        guard window <= maximumWindow else { return "the zstd frame requires a window of more than 16 MiB" }
        return flaw(
            inBlocksOf: piece, from: position, largest: min(window, 128 << 10),
            checksumByteCount: descriptor & 0x04 != 0 ? 4 : 0)
    }

    private static let cutShort: StaticString = "the zstd frame is cut short"

    private static func flaw(
        inBlocksOf piece: Span<UInt8>, from start: Int, largest: UInt64, checksumByteCount: Int
    ) -> StaticString? {
        var position = start
        var isLast = false
        while !isLast {
            guard let header = piece.littleEndian(at: position, byteLength: 3) else { return cutShort }
            let (kind, size) = (header >> 1 & 3, header >> 3)
            guard kind != 3 else { return "the zstd frame has a block of a reserved kind" }
            guard size <= largest else { return "the zstd frame has an oversized block" }
            isLast = header & 1 != 0
            // A run-length block stores one byte, whatever its size.
            position += 3 + (kind == 1 ? 1 : Int(size))
        }
        position += checksumByteCount
        if position > piece.count { return cutShort }
        if position < piece.count { return "something follows the zstd frame" }
        return nil
    }
}
