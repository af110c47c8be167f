import SealedPack
import SystemPackage
import VaultErrors
import VaultFileSystem

/// Reads one large file front to back and cuts it by content. Only the bytes read beyond a piece's end, less than
/// `readLength`, are copied to the next piece.
struct LargeFileReader: ~Copyable {
    private static let readLength = 64 << 10

    private let file: OpenFile
    private let size: UInt64
    private var readEnd: UInt64 = 0
    /// Bytes read that belong to the next piece.
    private var rest: [UInt8] = []

    init(_ file: consuming OpenFile, size: UInt64) {
        self.file = file
        self.size = size
    }

    /// The next piece, or nil after the last one. Throws `.io` when the length has changed since the scan.
    mutating func next(cutBy gear: borrowing GearHash) throws(VaultError) -> [UInt8]? {
        var piece: [UInt8] = []
        piece.reserveCapacity(3 * Self.readLength)
        piece += rest
        rest.removeAll(keepingCapacity: true)
        var search = GearHash.Search()
        while true {
            if let count = gear.pieceCount(of: piece.span, &search) {
                rest += piece[count...]
                piece.removeLast(piece.count - count)
                return piece
            }
            guard try readOn(behind: &piece) else { return piece.isEmpty ? nil : piece }
        }
    }

    /// False at the end of the file.
    private mutating func readOn(behind piece: inout [UInt8]) throws(VaultError) -> Bool {
        let isEnd = readEnd == size
        let wanted = isEnd ? 1 : Int(min(UInt64(Self.readLength), size - readEnd))
        // Bytes after the end mean that the file has changed.
        guard try file.append(to: &piece, upTo: wanted, at: readEnd) == (isEnd ? 0 : wanted) else {
            throw sourceChanged(file.path.string)
        }
        if !isEnd { readEnd += UInt64(wanted) }
        return !isEnd
    }
}

func sourceChanged(_ place: String) -> VaultError {
    VaultError(
        .io, "the file changed while it was being sealed", at: place,
        remedy: "seal again when nothing writes to it")
}
