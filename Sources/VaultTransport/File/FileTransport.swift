public import VaultErrors
import VaultFileSystem

/// Reads a site that is a folder of this machine, a mounted share or a USB stick.
///
/// Links are followed: whoever can place them there can read the files anyway.
public struct FileTransport: Transport {
    public init() {}

    public func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse {
        guard let path = request.location.path else {
            throw VaultError(
                .usage, "not a folder or file URL", at: request.location.description,
                remedy: "read it with an HTTP transport")
        }
        let file: OpenFile
        do {
            file = try OpenFile(reading: path)
        } catch  where error.category == .missing {
            return .absent
        }
        let status = try file.status()
        let tag = EntityTag(
            "\"\([status.inode, status.size, UInt64(bitPattern: status.modified)].map { String($0, radix: 16) }.joined(separator: "-"))\""
        )
        let shared = SharedFile(file)
        func body(_ offset: UInt64, _ count: UInt64) throws(VaultError) -> TransportBody {
            try TransportBody(for: request, length: count, entityTag: tag) {
                FileChunks(file: shared, offset: offset, left: count)
            }
        }
        guard let range = request.range, request.ifRange == nil || request.ifRange == tag else {
            return .whole(try body(0, status.size))
        }
        guard range.first < status.size,
            let part = ContentRange(
                first: range.first, last: min(range.last ?? .max, status.size - 1), total: status.size)
        else { return .outOfRange(total: status.size) }
        return .part(part, try body(part.first, part.count))
    }
}

/// A file that a body keeps open.
private final class SharedFile: Sendable {
    let file: OpenFile

    init(_ file: consuming OpenFile) { self.file = file }
}

/// A stretch of a file, piece by piece; shorter when the file shrinks meanwhile.
private struct FileChunks: ChunkSource {
    let file: SharedFile
    var offset: UInt64
    var left: UInt64

    mutating func next() async throws(VaultError) -> [UInt8]? {
        var chunk: [UInt8] = []
        let count = try file.file.read(into: &chunk, upTo: Int(min(left, 1 << 18)), at: offset)
        guard count > 0 else { return nil }
        offset += UInt64(count)
        left -= UInt64(count)
        return chunk
    }
}
