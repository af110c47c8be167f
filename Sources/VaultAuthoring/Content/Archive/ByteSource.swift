import SystemPackage
import VaultBase
import VaultFileSystem

/// The input of libarchive, read block by block.
protocol ByteSource: AnyObject {
    /// The next bytes, valid until the next call; none at the end.
    func next() throws(VaultError) -> UnsafeRawBufferPointer
}

/// A file, or a stream such as a pipe.
@safe final class FileSource: ByteSource {
    private let file: OpenFile
    /// A stream is read sequentially, a file at offsets.
    private let isStream: Bool
    private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 256 << 10)
    /// Bytes in the buffer that were only peeked at.
    private var peeked: Int?
    /// The offset of the next read from a file.
    private var offset: UInt64 = 0
    /// Bytes that were returned so far.
    private(set) var delivered: UInt64 = 0

    init(_ file: consuming OpenFile, isStream: Bool) {
        self.file = file
        self.isStream = isStream
    }

    deinit {
        unsafe buffer.deallocate()
    }

    var name: String { file.path.string }

    /// Bytes of the file, nil for a stream.
    func size() throws(VaultError) -> UInt64? {
        isStream ? nil : try file.status().size
    }

    /// The first bytes, which ``next()`` returns again.
    func firstBytes(_ count: Int) throws(VaultError) -> [UInt8] {
        let filled = try fill()
        peeked = filled
        return unsafe Array(buffer.prefix(min(count, filled)))
    }

    func next() throws(VaultError) -> UnsafeRawBufferPointer {
        let count = if let peeked { peeked } else { try fill() }
        peeked = nil
        delivered += UInt64(count)
        return unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
    }

    /// Exactly these bytes of a file; `.corrupt` if it ends before.
    func bytes(_ count: Int, at offset: UInt64) throws(VaultError) -> [UInt8] {
        try file.readExactly(count, at: offset)
    }

    /// Continues at another offset of a file.
    func seek(to offset: UInt64) {
        peeked = nil
        self.offset = offset
    }

    private func fill() throws(VaultError) -> Int {
        var span = unsafe buffer.mutableSpan
        if isStream { return try file.readNext(into: &span) }
        let count = try file.read(into: &span, at: offset)
        offset += UInt64(count)
        return count
    }
}

/// The content of a compressed file.
final class DecompressedSource: ByteSource {
    private let file: FileSource
    private let reader: ArchiveReader

    /// - Parameter filter: libarchive's code of the filter.
    init(_ file: FileSource, filter: Int32) throws(VaultError) {
        self.file = file
        reader = try ArchiveReader(.raw(filter: filter), from: file, name: file.name)
        _ = try reader.nextEntry()
    }

    func next() throws(VaultError) -> UnsafeRawBufferPointer {
        if let block = try unsafe reader.nextBlock() { return unsafe block.bytes }
        // Not every filter of libarchive reports bytes after the end.
        let isUsedUp = reader.consumed == file.delivered
        let isAtEnd = try unsafe file.next().isEmpty
        guard isUsedUp, isAtEnd else { throw reader.corrupt("extra bytes follow the compressed data") }
        return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    }
}

/// A tar archive's bytes; checks the part that libarchive does not read: all bytes after the end must be zeros.
final class TarSource: ByteSource {
    private let source: any ByteSource
    private var delivered: UInt64 = 0
    /// Zeros at the end of the returned bytes.
    private var zeros: UInt64 = 0

    init(_ source: any ByteSource) {
        self.source = source
    }

    func next() throws(VaultError) -> UnsafeRawBufferPointer {
        let block = try unsafe source.next()
        let run = unsafe block.count - ((block.lastIndex { $0 != 0 } ?? -1) + 1)
        zeros = UInt64(run) + (run == block.count ? zeros : 0)
        delivered += UInt64(block.count)
        return unsafe block
    }

    /// Reads to the end and returns whether there are only zeros after `end`.
    func hasOnlyZeros(after end: UInt64) throws(VaultError) -> Bool {
        while try unsafe !next().isEmpty {}
        return end <= delivered && delivered - end <= zeros
    }
}
