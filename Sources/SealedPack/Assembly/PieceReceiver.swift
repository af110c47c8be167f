public import VaultErrors

/// Receives some pieces of a pack whose index is verified. Each is written once it is complete and verified; all other
/// bytes are dropped.
public struct PieceReceiver: ~Copyable {
    private let ranges: PieceRanges
    private let writer: PieceWriter
    private let wanted: Set<Int>
    private var cutter: IncomingPieceCutter
    private var end: UInt64 = 0

    public init(of pieces: [Int], in pack: PackFile) throws(VaultError) {
        ranges = try PieceRanges(of: pack)
        writer = PieceWriter(pack: pack, ranges: ranges, copies: nil)
        wanted = Set(pieces)
        cutter = IncomingPieceCutter(IncomingPiece(), at: 0, ranges)
    }

    /// Throws `.io`.
    public mutating func receive(_ bytes: [UInt8], at offset: UInt64) throws(VaultError) {
        if offset != end { cutter = IncomingPieceCutter(IncomingPiece(), at: offset, ranges) }
        end = offset + UInt64(bytes.count)
        cutter.add(bytes)
        while let piece = cutter.next(where: wanted.contains) {
            _ = try writer.write(piece.bytes.span, as: piece.number)
        }
    }
}
