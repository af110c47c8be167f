/// What must hold before a zstd decoder may see a piece (RFC 8878, section 3.1).
///
/// A decoder would reserve whatever window a hostile frame asks for, go on with a second frame, and skip
/// skippable ones; so the frame is walked first, header by header, without decoding anything.
struct ZstdFrame {
    /// The largest window that is accepted, 16 MiB: that of the largest piece.
    static let maximumWindow: UInt64 = 16 << 20

    /// What is wrong with `piece` as exactly one frame of `count` bytes of content, nil if nothing is.
    static func flaw(in piece: Span<UInt8>, contentCount count: Int) -> StaticString? {
        guard piece.count >= 6 else { return "the zstd frame is cut short" }
        // Skippable frames have other magic numbers.
        guard littleEndian(piece, at: 0, byteCount: 4) == 0xFD2F_B528 else { return "it is not a zstd frame" }
        let descriptor = piece[4]
        let isSingleSegment = descriptor & 0x20 != 0
        guard descriptor & 0x08 == 0 else { return "a reserved bit of the zstd frame is set" }
        guard descriptor & 0x03 == 0 else { return "the zstd frame wants a dictionary" }

        var position = 5
        var window: UInt64 = 0
        if !isSingleSegment {
            let base: UInt64 = 1 << (10 + UInt64(piece[position] >> 3))
            window = base + base / 8 * UInt64(piece[position] & 7)
            position += 1
        }
        let sizeByteCount = [isSingleSegment ? 1 : 0, 2, 4, 8][Int(descriptor >> 6)]
        guard position + sizeByteCount <= piece.count else { return "the zstd frame is cut short" }
        if sizeByteCount > 0 {
            let bias: UInt64 = sizeByteCount == 2 ? 256 : 0
            let declared = littleEndian(piece, at: position, byteCount: sizeByteCount) &+ bias
            guard declared == UInt64(count) else { return "the zstd frame declares another length" }
            if isSingleSegment { window = declared }
            position += sizeByteCount
        }
        guard window <= maximumWindow else { return "the zstd frame wants a window of more than 16 MiB" }
        return flaw(
            inBlocksOf: piece, from: position, largest: min(window, 128 << 10),
            checksumByteCount: descriptor & 0x04 != 0 ? 4 : 0)
    }

    private static func flaw(
        inBlocksOf piece: Span<UInt8>, from start: Int, largest: UInt64, checksumByteCount: Int
    ) -> StaticString? {
        var position = start
        var isLast = false
        while !isLast {
            guard position + 3 <= piece.count else { return "the zstd frame is cut short" }
            let header = littleEndian(piece, at: position, byteCount: 3)
            let (kind, size) = (header >> 1 & 3, header >> 3)
            guard kind != 3 else { return "the zstd frame has a block of a reserved kind" }
            guard size <= largest else { return "the zstd frame has an oversized block" }
            isLast = header & 1 != 0
            // A run-length block stores one byte, whatever its size.
            position += 3 + (kind == 1 ? 1 : Int(size))
        }
        position += checksumByteCount
        if position > piece.count { return "the zstd frame is cut short" }
        if position < piece.count { return "something follows the zstd frame" }
        return nil
    }

    private static func littleEndian(_ bytes: Span<UInt8>, at start: Int, byteCount: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<byteCount { value |= UInt64(bytes[start + index]) << (8 * UInt64(index)) }
        return value
    }
}
