import CVaultArchive
import Glibc
public import VaultBase

/// Compression of single pieces as zstd frames (RFC 8878), through libarchive's `raw` format.
///
/// Each call handles one frame, without state. Setting up a compressor takes about 20 µs and a decompressor 10 µs, a
/// fifth of the time for a piece of 64 KiB.
public enum Zstd {
    /// Appends `input` as one zstd frame, if that is smaller than `input` itself.
    ///
    /// Equal input, level and version of libzstd give equal bytes.
    ///
    /// - Parameters:
    ///   - input: One piece, at most 16 MiB.
    ///   - level: libarchive's `compression-level`: 1 is fast, 3 usual, 19 slow.
    /// - Returns: False, with nothing appended, if the frame would not be smaller, below level 10 also if samples look
    ///   random.
    /// - Throws: `.usage` for an unsupported level, `.io` when memory runs out.
    public static func compress(
        _ input: Span<UInt8>, level: Int, appendingTo output: inout [UInt8]
    ) throws(VaultError) -> Bool {
        if level < slowLevels, RandomnessEstimate.describes(input) { return false }
        return try unsafe compress(upTo: input.count, level: level, appendingTo: &output) { archive in
            unsafe write(input, to: archive)
        }
    }

    /// The same for an input in parts of any size, without the check for randomness.
    public static func compress(
        joining parts: [[UInt8]], level: Int, appendingTo output: inout [UInt8]
    ) throws(VaultError) -> Bool {
        let count = parts.reduce(0) { $0 + $1.count }
        return try unsafe compress(upTo: count, level: level, appendingTo: &output) { archive in
            parts.allSatisfy { unsafe write($0.span, to: archive) }
        }
    }

    /// Appends one frame of the bytes from `write` if it is smaller than `limit`, else returns false.
    private static func compress(
        upTo limit: Int, level: Int, appendingTo output: inout [UInt8], _ write: (OpaquePointer) -> Bool
    ) throws(VaultError) -> Bool {
        guard limit > 1 else { return false }
        return try ThreadLocale.utf8.run { () throws(VaultError) in
            let archive = try unsafe frameWriter(level: level)
            defer { unsafe _ = archive_write_free(archive) }
            var isSmaller = false
            // The buffer is smaller than the input, so libarchive stops early if the frame is not smaller.
            try output.append(addingCapacity: limit - 1) { (frame) throws(VaultError) in
                try unsafe frame.withUnsafeMutableBufferPointer { (buffer, count) throws(VaultError) in
                    var written = 0
                    let status = unsafe archive_write_open_memory(
                        archive, buffer.baseAddress, buffer.count, &written)
                    guard status == ARCHIVE_OK else { throw outOfMemory }
                    try unsafe beginEntry(of: archive)
                    isSmaller = unsafe write(archive) && archive_write_close(archive) == ARCHIVE_OK
                    count = isSmaller ? written : 0
                }
            }
            return isSmaller
        }
    }

    /// The content of one zstd frame.
    ///
    /// The frame is checked before it is decoded: exactly one, without a dictionary, with a window of at most 16 MiB.
    /// Memory is bounded by `count` and that window.
    ///
    /// - Throws: `.corrupt` unless `frame` is such a frame and its content has exactly `count` bytes.
    public static func decompress(
        _ frame: Span<UInt8>, exactly count: Int
    ) throws(VaultError) -> [UInt8] {
        if let flaw = ZstdFrame.flaw(in: frame, contentLength: count) { throw corrupt(flaw.description) }
        guard count > 0 else { throw corrupt("an empty piece is never compressed") }
        return try ThreadLocale.utf8.run { () throws(VaultError) in
            guard let archive = unsafe archive_read_new() else { throw outOfMemory }
            defer { unsafe _ = archive_read_free(archive) }
            return try unsafe frame.withUnsafeBytes { (source) throws(VaultError) in
                // Exactly one filter: `support_filter_*` would also decompress content that is zstd itself.
                guard unsafe archive_read_support_format_raw(archive) == ARCHIVE_OK,
                    unsafe archive_read_append_filter(archive, ARCHIVE_FILTER_ZSTD) == ARCHIVE_OK
                else { throw outOfMemory }
                // Opening already decompresses the first bytes.
                var entry: OpaquePointer?
                guard
                    unsafe archive_read_open_memory(archive, source.baseAddress, source.count) == ARCHIVE_OK,
                    unsafe archive_read_next_header(archive, &entry) == ARCHIVE_OK
                else { throw unsafe failure(of: archive) }
                return try unsafe read(exactly: count, from: archive)
            }
        }
    }
}

// MARK: Steps

extension Zstd {
    /// From this level on, pieces that look random are compressed as well.
    private static let slowLevels = 10

    private static func frameWriter(level: Int) throws(VaultError) -> OpaquePointer {
        guard let archive = unsafe archive_write_new() else { throw outOfMemory }
        var isReady = false
        defer { if !isReady { unsafe _ = archive_write_free(archive) } }
        guard unsafe archive_write_set_format_raw(archive) == ARCHIVE_OK,
            unsafe archive_write_add_filter_zstd(archive) == ARCHIVE_OK,
            // Without blocks the frame is written directly to the buffer.
            unsafe archive_write_set_bytes_per_block(archive, 0) == ARCHIVE_OK
        else { throw outOfMemory }
        let status = unsafe archive_write_set_filter_option(
            archive, "zstd", "compression-level", String(level))
        guard status == ARCHIVE_OK else {
            throw VaultError(
                .usage, "unsupported zstd compression level", at: "level \(level)", remedy: "use 1 to 19")
        }
        isReady = true
        return unsafe archive
    }

    private static func beginEntry(of archive: OpaquePointer) throws(VaultError) {
        guard let entry = unsafe archive_entry_new() else { throw outOfMemory }
        defer { unsafe archive_entry_free(entry) }
        unsafe archive_entry_set_filetype(entry, cvault_file_type_regular)
        guard unsafe archive_write_header(archive, entry) == ARCHIVE_OK else { throw outOfMemory }
    }

    /// False if the frame does not fit the buffer.
    private static func write(_ input: Span<UInt8>, to archive: OpaquePointer) -> Bool {
        unsafe input.withUnsafeBytes { source in
            unsafe archive_write_data(archive, source.baseAddress, source.count) == source.count
        }
    }

    private static func read(
        exactly count: Int, from archive: OpaquePointer
    ) throws(VaultError) -> [UInt8] {
        let content = try [UInt8](capacity: count) { (output) throws(VaultError) in
            try unsafe output.withUnsafeMutableBufferPointer { (buffer, filled) throws(VaultError) in
                let length = unsafe archive_read_data(archive, buffer.baseAddress, count)
                guard length >= 0 else { throw unsafe failure(of: archive) }
                filled = length
            }
        }
        guard content.count == count else { throw corrupt("it is shorter than its catalog states") }
        var excess: UInt8 = 0
        let length = unsafe archive_read_data(archive, &excess, 1)
        guard length >= 0 else { throw unsafe failure(of: archive) }
        guard length == 0 else { throw corrupt("it is longer than its catalog states") }
        return content
    }
}

// MARK: Errors

extension Zstd {
    private static let outOfMemory = VaultError(
        .io, "libarchive can't set up zstd, probably for lack of memory", at: "compressed piece",
        remedy: "free some memory")

    private static func corrupt(_ problem: String) -> VaultError {
        VaultError(.corrupt, problem, at: "compressed piece", remedy: "get the pack again")
    }

    private static func failure(of archive: OpaquePointer) -> VaultError {
        unsafe archive_errno(archive) == ENOMEM ? outOfMemory : corrupt("it can't be decompressed")
    }
}

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

/// A cheap estimate whether a piece is incompressible, such as images and sounds.
///
/// Measured on 719 MB of a game's assets in pieces of 128 KiB: it saves two fifths of the compression time, and the
/// result grows by 0.05 %, as repetitions between the samples and a few percent of text among noise are missed.
enum RandomnessEstimate {
    /// Samples of 256 bytes, evenly spread.
    private static let sampleCount = 32
    /// For the sum of the squared occurrences of each value among 256 bytes: 511 on average for random ones, about
    /// 4,000 for text, 65,536 if all are equal. Data that compresses to less than nine tenths has a mean over 1,000.
    private static let limit = 700 * sampleCount

    /// Whether the samples' bytes are distributed almost like random ones.
    static func describes(_ piece: Span<UInt8>) -> Bool {
        guard piece.count >= 4 * sampleCount * 256 else { return false }
        var total = 0
        for number in 0..<sampleCount {
            let start = (piece.count - 256) / (sampleCount - 1) * number
            total += sumOfSquares(piece.extracting(start..<start + 256))
            if total > limit { return false }
        }
        return true
    }

    private static func sumOfSquares(_ sample: Span<UInt8>) -> Int {
        var occurrences = InlineArray<256, UInt16>(repeating: 0)
        var sum = 0
        for index in sample.indices {
            let value = Int(sample[index])
            sum += 2 * Int(occurrences[value]) + 1
            occurrences[value] += 1
        }
        return sum
    }
}
