import VaultErrors

/// The end of a zip archive (APPNOTE.TXT, 4.3.16), which libarchive finds even in front of foreign bytes.
enum ZipEnd {
    /// How many entries the archive says it has; nil for a zip64 archive, which says it elsewhere.
    ///
    /// - Throws: `.corrupt` unless the file ends with the end of a zip archive.
    static func entryCount(of file: FileSource) throws(VaultError) -> Int? {
        let size = try file.size() ?? 0
        // 22 bytes, and a comment of up to 65,535.
        let count = Int(min(size, 22 + 65_535))
        let tail = try file.bytes(count, at: size - UInt64(count))
        var start = count - 22
        while start >= 0 {
            if tail[start...].starts(with: [0x50, 0x4B, 5, 6]),
                count - start - 22 == tail.littleEndian(at: start + 20, byteCount: 2)
            {
                let entries = tail.littleEndian(at: start + 10, byteCount: 2)
                return entries == 0xFFFF ? nil : entries
            }
            start -= 1
        }
        throw VaultError(
            .corrupt, "the archive is cut short, or something follows its end", at: file.name,
            remedy: "make the archive again")
    }
}

/// The end of a 7z archive, which its first 32 bytes name (7zFormat.txt, "SignatureHeader").
enum SevenZipEnd {
    static func isEnd(of file: FileSource) throws(VaultError) -> Bool {
        let start = try file.bytes(32, at: 0)
        let offset = UInt64(truncatingIfNeeded: start.littleEndian(at: 12, byteCount: 8))
        let count = UInt64(truncatingIfNeeded: start.littleEndian(at: 20, byteCount: 8))
        let (header, overflow) = offset.addingReportingOverflow(32)
        let (end, tooFar) = header.addingReportingOverflow(count)
        let size = try file.size()
        return !overflow && !tooFar && size == end
    }
}

extension [UInt8] {
    fileprivate func littleEndian(at start: Int, byteCount: Int) -> Int {
        self[start..<start + byteCount].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
