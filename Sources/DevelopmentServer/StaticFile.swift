import VaultErrors
import VaultFileSystem

/// An open file to serve, with the attributes that it had when it was opened.
final class StaticFile: Sendable {
    private let file: OpenFile
    private let name: [UInt8]
    /// Bytes.
    let size: UInt64
    /// Whether bytes at its end are not served.
    let isTruncated: Bool
    /// Strong: made of the inode, size and both times (in nanoseconds).
    let entityTag: String

    /// - Parameter missing: bytes that are not served at its end.
    init(_ file: consuming OpenFile, name: [UInt8], missing: UInt64 = 0) throws(VaultError) {
        let status = try file.status()
        self.file = file
        self.name = name
        size = status.size - min(missing, status.size)
        isTruncated = size < status.size
        let parts = [
            status.inode, status.size, UInt64(bitPattern: status.modified),
            UInt64(bitPattern: status.changed),
        ]
        entityTag = "\"\(parts.map { String($0, radix: 16) }.joined(separator: "-"))\""
    }

    var contentType: String {
        name.suffix(5).elementsEqual(".json".utf8) ? "application/json" : "application/octet-stream"
    }

    /// Names that begin with a SHA-256 never change their content; all others must be revalidated.
    var cacheControl: String {
        let stem = name.prefix { $0 != UInt8(ascii: ".") }
        let isDigest =
            stem.count == 64 && stem.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        return isDigest ? "public, max-age=31536000, immutable" : "no-cache"
    }

    /// At most `count` bytes from `offset`; fewer only at the end of the file.
    func read(upTo count: Int, at offset: UInt64) throws(VaultError) -> [UInt8] {
        var bytes: [UInt8] = []
        try file.read(into: &bytes, upTo: count, at: offset)
        return bytes
    }
}
