public import VaultBase
import VaultFileSystem

/// Reads a site in a folder: on this machine, a mounted share or a USB stick.
///
/// Links are followed: a user who can create them can read the files anyway.
public struct FileTransport: Transport {
    public init() {}

    public func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse {
        guard let path = request.location.path else {
            throw VaultError(
                .usage, "not a folder or file URL", at: request.location.description,
                remedy: "enable the package's trait HTTP, or give a transport that reads URLs")
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
        func body(_ offset: UInt64, _ length: UInt64) throws(VaultError) -> TransportBody {
            try TransportBody(for: request, length: length, entityTag: tag) {
                FileChunks(file: shared, offset: offset, remaining: length)
            }
        }
        guard let range = request.range, request.ifRange == nil || request.ifRange == tag else {
            return .whole(try body(0, status.size))
        }
        guard range.first < status.size,
            let part = ContentRange(
                first: range.first, last: min(range.last ?? .max, status.size - 1), total: status.size)
        else { return .outOfRange(total: status.size) }
        return .part(part, try body(part.first, part.length))
    }
}

/// A file kept open by a body.
private final class SharedFile: Sendable {
    let file: OpenFile

    init(_ file: consuming OpenFile) { self.file = file }
}

/// A part of a file in chunks; shorter when the file shrinks meanwhile.
private struct FileChunks: ChunkSource {
    let file: SharedFile
    var offset: UInt64
    var remaining: UInt64

    mutating func next() async throws(VaultError) -> [UInt8]? {
        var chunk: [UInt8] = []
        let count = try file.file.read(into: &chunk, upTo: Int(min(remaining, 1 << 18)), at: offset)
        guard count > 0 else { return nil }
        offset += UInt64(count)
        remaining -= UInt64(count)
        return chunk
    }
}
