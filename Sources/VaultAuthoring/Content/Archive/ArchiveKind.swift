import CVaultArchive

/// The supported archive formats, detected by their first bytes, never by names. A compressed file is assumed to contain a tar.
enum ArchiveKind {
    /// With libarchive's filter; nil for a plain one.
    case tar(filter: Int32?)
    case zip, sevenZip

    /// The bytes that ``init(firstBytes:)`` needs: one tar header.
    static let detectionByteCount = 512

    init?(firstBytes bytes: Span<UInt8>) {
        func begins(with magic: [UInt8]) -> Bool {
            bytes.count >= magic.count && magic.indices.allSatisfy { bytes[$0] == magic[$0] }
        }
        if begins(with: [0x1F, 0x8B]) {
            self = .tar(filter: ARCHIVE_FILTER_GZIP)
        } else if begins(with: Array("BZh".utf8)) {
            self = .tar(filter: ARCHIVE_FILTER_BZIP2)
        } else if begins(with: [0xFD] + Array("7zXZ".utf8) + [0]) {
            self = .tar(filter: ARCHIVE_FILTER_XZ)
        } else if begins(with: [0x28, 0xB5, 0x2F, 0xFD]) {
            self = .tar(filter: ARCHIVE_FILTER_ZSTD)
        } else if begins(with: [0x50, 0x4B, 3, 4]) || begins(with: [0x50, 0x4B, 5, 6]) {
            self = .zip
        } else if begins(with: [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]) {
            self = .sevenZip
        } else if Self.isTarHeader(bytes) {
            self = .tar(filter: nil)
        } else {
            return nil
        }
    }

    /// POSIX ustar: the octal number at 148 is the sum of all bytes, itself counted as spaces. An empty
    /// archive is all zeros.
    private static func isTarHeader(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count >= 512 else { return false }
        let sum = (0..<512).reduce(0) { $0 + Int((148..<156).contains($1) ? 0x20 : bytes[$1]) }
        if sum == 8 * 0x20 { return (148..<156).allSatisfy { bytes[$0] == 0 } }
        var stated = 0
        for index in 148..<156 {
            switch bytes[index] {
            case 0x30...0x37: stated = stated * 8 + Int(bytes[index] - 0x30)
            case 0, 0x20: continue
            default: return false
            }
        }
        return stated == sum
    }
}
