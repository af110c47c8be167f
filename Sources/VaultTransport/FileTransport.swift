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
        let size = try file.status().size
        let shared = OpenFileReference(file)
        func body(_ offset: UInt64, _ length: UInt64) throws(VaultError) -> TransportBody {
            try TransportBody(for: request, length: length) {
                FileChunks(file: shared, offset: offset, remaining: length)
            }
        }
        guard let range = request.range else { return .whole(try body(0, size)) }
        guard range.first < size,
            let part = ContentRange(first: range.first, last: min(range.last, size - 1), total: size)
        else { return .outOfRange(total: size) }
        return .part(part, try body(part.first, part.length))
    }
}

/// A part of a file in chunks; shorter when the file shrinks meanwhile.
private struct FileChunks: ChunkSource {
    let file: OpenFileReference
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
