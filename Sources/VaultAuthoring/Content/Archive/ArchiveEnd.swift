import VaultBase

/// The records at the end of a zip archive, which locate its central directory.
struct ZipEnd {
    let directoryOffset: UInt64
    let directoryByteCount: Int
    private let count: UInt64
    private let isZip64: Bool

    /// The largest directory that is read, enough for 4 million entries.
    private static let maximumDirectoryByteCount: UInt64 = 1 << 30

    /// Throws `.corrupt` unless the file ends with the directory and these records.
    init(of file: FileSource) throws(VaultError) {
        guard let size = try file.size() else { throw .needsFile("zip", file.name) }
        // 22 bytes, a comment of up to 65,535, and zip64's 20 bytes before.
        let tailLength = Int(min(size, 20 + 22 + 65_535))
        let tail = try file.bytes(tailLength, at: size - UInt64(tailLength))
        guard let start = Self.start(in: tail.span),
            let count = tail.span.littleEndian(at: start + 10, byteLength: 2),
            let byteCount = tail.span.littleEndian(at: start + 12, byteLength: 4),
            let offset = tail.span.littleEndian(at: start + 16, byteLength: 4)
        else { throw .wrongEnd(file.name) }
        isZip64 = tail.span.littleEndian(at: start - 20, byteLength: 4) == 0x0706_4B50

        let wide =
            isZip64 ? try Self.zip64(tail.span.littleEndian(at: start - 12, byteLength: 8), file, size) : nil
        let directory = wide ?? (count, byteCount, offset, size - UInt64(tailLength - start))
        guard directory.offset <= directory.end, directory.end - directory.offset == directory.byteCount,
            directory.byteCount <= Self.maximumDirectoryByteCount
        else { throw .wrongEnd(file.name) }
        self.count = directory.count
        directoryByteCount = Int(directory.byteCount)
        directoryOffset = directory.offset
    }

    /// Whether the archive states this number of entries, without zip64 modulo 2^16.
    func states(_ entryCount: Int) -> Bool {
        isZip64 ? count == UInt64(entryCount) : count == UInt64(entryCount) & 0xFFFF
    }

    private typealias Directory = (count: UInt64, byteCount: UInt64, offset: UInt64, end: UInt64)

    private static func zip64(
        _ place: UInt64?, _ file: FileSource, _ size: UInt64
    ) throws(VaultError) -> Directory {
        guard let place, place <= size, size - place >= 56 else { throw .wrongEnd(file.name) }
        let record = try file.bytes(56, at: place)
        guard record.span.littleEndian(at: 0, byteLength: 4) == 0x0606_4B50,
            let count = record.span.littleEndian(at: 32, byteLength: 8),
            let byteCount = record.span.littleEndian(at: 40, byteLength: 8),
            let offset = record.span.littleEndian(at: 48, byteLength: 8)
        else { throw .wrongEnd(file.name) }
        return (count, byteCount, offset, place)
    }

    /// The offset of the end record, whose comment ends exactly at the end of the file.
    private static func start(in tail: Span<UInt8>) -> Int? {
        var start = tail.count - 22
        while start >= 0 {
            if tail.littleEndian(at: start, byteLength: 4) == 0x0605_4B50,
                let commentLength = tail.littleEndian(at: start + 20, byteLength: 2),
                start + 22 + Int(commentLength) == tail.count
            {
                return start
            }
            start -= 1
        }
        return nil
    }
}

/// The end of a 7z archive, stated by its first 32 bytes (7zFormat.txt, "SignatureHeader").
enum SevenZipEnd {
    /// Throws `.corrupt` unless the file ends at the stated end.
    static func check(_ file: FileSource) throws(VaultError) {
        guard let size = try file.size() else { throw .needsFile("7z", file.name) }
        let start = size < 32 ? [] : try file.bytes(32, at: 0)
        if let offset = start.span.littleEndian(at: 12, byteLength: 8),
            let count = start.span.littleEndian(at: 20, byteLength: 8)
        {
            let (header, overflow) = offset.addingReportingOverflow(32)
            let (end, tooFar) = header.addingReportingOverflow(count)
            if !overflow, !tooFar, end == size { return }
        }
        throw .wrongEnd(file.name)
    }
}

extension VaultError {
    /// The archive does not end at the end of its file.
    static func wrongEnd(_ name: String) -> VaultError {
        VaultError(
            .corrupt, "the archive is cut short, or extra bytes follow its end", at: name,
            remedy: "make the archive again")
    }

    /// The format can't be read sequentially.
    static func needsFile(_ format: String, _ name: String) -> VaultError {
        VaultError(
            .usage, "a \(format) archive can't be read from a stream", at: name, remedy: "give its path")
    }
}
