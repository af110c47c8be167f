import SystemPackage
import VaultErrors
import VaultFileSystem

/// Reads one large file front to back and cuts it by content; holds at most about 1.5 MiB of it.
struct LargeFileReader: ~Copyable {
    private static let readCount = 1 << 20

    private let file: OpenFile
    private let size: UInt64
    private var readEnd: UInt64 = 0
    private var window: [UInt8] = []
    private var start = 0
    private var block: [UInt8] = []

    init(_ file: consuming OpenFile, size: UInt64) {
        self.file = file
        self.size = size
    }

    /// The next piece, or nil after the last one. Throws `.io` when the file is not as long as it was when it was listed.
    mutating func next(cutBy gear: borrowing GearHash) throws(VaultError) -> [UInt8]? {
        if window.count - start < GearHash.maximumPiece, readEnd < size { try refill() }
        guard start < window.count else {
            guard try file.read(into: &block, upTo: 1, at: size) == 0 else {
                throw sourceChanged(file.path.string)
            }
            return nil
        }
        let end = start + gear.pieceCount(of: window.span.extracting(start...))
        defer { start = end }
        return Array(window[start..<end])
    }

    private mutating func refill() throws(VaultError) {
        window.removeSubrange(..<start)
        start = 0
        let wanted = Int(min(UInt64(Self.readCount), size - readEnd))
        guard try file.read(into: &block, upTo: wanted, at: readEnd) == wanted else {
            throw sourceChanged(file.path.string)
        }
        window += block
        readEnd += UInt64(wanted)
    }
}

func sourceChanged(_ place: String) -> VaultError {
    VaultError(
        .io, "the file changed while it was being sealed", at: place,
        remedy: "seal again when nothing writes to it")
}
