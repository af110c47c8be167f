import SealedPack
import VaultBase

/// The central directory of a zip archive (APPNOTE.TXT 6.3.10, 4.3.12 to 4.3.16), for what libarchive does not report:
/// unchanged names, the number of entries, and the end.
///
/// libarchive normalises names to NFC, truncates them at a NUL, changes some backslashes to slashes and some FIFOs to
/// files, drops entries that share their content, and accepts other bytes after the directory.
struct ZipDirectory {
    private struct Record {
        var contentOffset: UInt64
        var nameStart: Int
        var nameLength: Int
        var isFIFO: Bool
    }

    private let file: String
    private var names: [UInt8] = []
    /// Sorted by content offset, like libarchive's entries.
    private var records: [Record] = []

    /// Throws `.corrupt` unless the file ends with a complete directory.
    init(of file: FileSource) throws(VaultError) {
        self.file = file.name
        let end = try ZipEnd(of: file)
        let bytes = try file.bytes(end.directoryByteCount, at: end.directoryOffset)
        var position = 0
        while position < bytes.count, records.count < ArchiveUnpacking.maximumEntryCount {
            guard let next = append(recordAt: position, of: bytes.span) else { throw damaged }
            position = next
        }
        guard position == bytes.count, end.states(records.count) else { throw damaged }
        records.sort { $0.contentOffset < $1.contentOffset }
    }

    var isEmpty: Bool { records.isEmpty }

    /// The path of one of libarchive's entries.
    func path(at index: Int) throws(VaultError) -> [UInt8] {
        guard index < records.count else { throw damaged }
        let record = records[index]
        let path = Array(names[record.nameStart..<record.nameStart + record.nameLength])
        if record.isFIFO {
            throw VaultError(
                .corrupt, "is a FIFO", at: "\(file): entry \(EntryPath.quoted(path.span))",
                remedy: "leave it out of the archive")
        }
        return path
    }

    /// Throws `.corrupt` unless libarchive found this number of entries.
    func checkCount(_ count: Int) throws(VaultError) {
        guard count == records.count else { throw damaged }
    }

    private var damaged: VaultError {
        VaultError(.corrupt, "the central directory is damaged", at: file, remedy: "make the archive again")
    }

    /// Returns the offset of the next record; nil if this one is damaged.
    private mutating func append(recordAt start: Int, of bytes: Span<UInt8>) -> Int? {
        guard bytes.littleEndian(at: start, byteLength: 4) == 0x0201_4B50,
            let system = bytes.littleEndian(at: start + 5, byteLength: 1),
            let nameLength = bytes.littleEndian(at: start + 28, byteLength: 2),
            let extraLength = bytes.littleEndian(at: start + 30, byteLength: 2),
            let commentLength = bytes.littleEndian(at: start + 32, byteLength: 2),
            let mode = bytes.littleEndian(at: start + 40, byteLength: 2),
            let offset = bytes.littleEndian(at: start + 42, byteLength: 4)
        else { return nil }
        let name = start + 46
        let extra = name + Int(nameLength)
        let comment = extra + Int(extraLength)
        let end = comment + Int(commentLength)
        guard end <= bytes.count else { return nil }
        let zip64Offset = Self.zip64Offset(of: bytes.extracting(start..<comment), extra: extra - start)
        records.append(
            Record(
                contentOffset: offset == 0xFFFF_FFFF ? zip64Offset ?? offset : offset,
                nameStart: names.count, nameLength: Int(nameLength),
                isFIFO: system == 3 && mode & 0xF000 == 0x1000))
        for index in name..<extra { names.append(bytes[index]) }
        return end
    }

    /// The offset from zip64's extra field, which contains only values that do not fit the record.
    private static func zip64Offset(of record: Span<UInt8>, extra: Int) -> UInt64? {
        var position = extra
        while let kind = record.littleEndian(at: position, byteLength: 2),
            let count = record.littleEndian(at: position + 2, byteLength: 2)
        {
            if kind == 1 {
                let before = [24, 20].filter { record.littleEndian(at: $0, byteLength: 4) == 0xFFFF_FFFF }
                    .count
                return record.littleEndian(at: position + 4 + 8 * before, byteLength: 8)
            }
            position += 4 + Int(count)
        }
        return nil
    }
}
