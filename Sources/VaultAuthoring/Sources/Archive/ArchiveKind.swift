public import SystemPackage
public import VaultBase
import VaultFileSystem

/// The supported archive formats, detected by their first bytes, never by names.
public enum ArchiveKind: Sendable, Hashable, CaseIterable {
    case tar, tarGzip, tarBzip2, tarXZ, tarZstd
    case zip, sevenZip

    /// Whether it can be read front to back, from a pipe.
    public var isStream: Bool { self != .zip && self != .sevenZip }

    /// The kind of a file, nil if it is not a supported archive. A compressed file is assumed to contain a tar.
    ///
    /// - Throws: `.missing` or `.io` if the file can't be read.
    public static func of(_ path: FilePath) throws(VaultError) -> ArchiveKind? {
        let file = try OpenFile(reading: path)
        var start: [UInt8] = []
        try file.read(into: &start, upTo: detectionByteCount, at: 0)
        return ArchiveKind(firstBytes: start.span)
    }

    /// The bytes that ``init(firstBytes:)`` needs: one tar header.
    static let detectionByteCount = 512

    init?(firstBytes bytes: Span<UInt8>) {
        func begins(with magic: [UInt8]) -> Bool {
            bytes.count >= magic.count && magic.indices.allSatisfy { bytes[$0] == magic[$0] }
        }
        if begins(with: [0x1F, 0x8B]) {
            self = .tarGzip
        } else if begins(with: Array("BZh".utf8)) {
            self = .tarBzip2
        } else if begins(with: [0xFD] + Array("7zXZ".utf8) + [0]) {
            self = .tarXZ
        } else if begins(with: [0x28, 0xB5, 0x2F, 0xFD]) {
            self = .tarZstd
        } else if begins(with: [0x50, 0x4B, 3, 4]) || begins(with: [0x50, 0x4B, 5, 6]) {
            self = .zip
        } else if begins(with: [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]) {
            self = .sevenZip
        } else if Self.isTarHeader(bytes) {
            self = .tar
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
