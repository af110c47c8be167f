public import VaultErrors

/// Some pieces of a pack whose index is verified, out of bytes that a host sends: each is written once all of it is there with
/// its digest. Anything else is dropped.
public struct PieceReceiver: ~Copyable {
    private let places: PiecePlaces
    private let writer: PieceWriter
    private let wanted: Set<Int>
    private var cutter: IncomingPieceCutter
    private var end: UInt64 = 0

    public init(of pieces: [Int], in pack: PackFile) throws(VaultError) {
        places = try PiecePlaces(of: pack)
        writer = PieceWriter(pack: pack, places: places, copies: nil)
        wanted = Set(pieces)
        cutter = IncomingPieceCutter(IncomingPiece(), at: 0, places)
    }

    /// Throws `.io`.
    public mutating func take(_ bytes: [UInt8], at offset: UInt64) throws(VaultError) {
        if offset != end { cutter = IncomingPieceCutter(IncomingPiece(), at: offset, places) }
        end = offset + UInt64(bytes.count)
        cutter.add(bytes)
        while let piece = cutter.next(where: wanted.contains) {
            _ = try writer.write(piece.bytes.span, as: piece.number)
        }
    }
}
