/// Cuts the bytes of a sender, from any offset of a pack, into pieces.
struct IncomingPieceCutter {
    private let ranges: PieceRanges
    private(set) var incoming: IncomingPiece
    /// The offset in the pack of the rest of the chunk.
    private var position: UInt64
    private var chunk: ArraySlice<UInt8> = []
    /// The piece that contains this offset.
    private var number: Int

    /// - Parameter incoming: the piece whose first bytes were already received.
    init(_ incoming: IncomingPiece, at position: UInt64, _ ranges: PieceRanges) {
        self.ranges = ranges
        self.incoming = incoming
        self.position = position
        number = ranges.first(endingAfter: max(position, PackLayout.piecesOffset))
    }

    /// Adds the bytes that follow the previous ones.
    mutating func add(_ bytes: [UInt8]) { chunk = bytes[...] }

    /// The next complete piece; nil when more bytes are needed. Skips other parts and unwanted pieces.
    mutating func next(where isWanted: (Int) -> Bool) -> IncomingPiece.Complete? {
        drop(before: PackLayout.piecesOffset)
        while !chunk.isEmpty, number < ranges.count {
            let piece = ranges[number]
            let part = chunk.prefix(Int(clamping: piece.upperBound - position))
            let whole =
                isWanted(number)
                ? incoming.add(part.span, at: position, to: number, of: piece) : nil
            drop(before: position + UInt64(part.count))
            if position == piece.upperBound { number += 1 }
            if let whole { return whole }
        }
        drop(before: position + UInt64(chunk.count))
        return nil
    }

    private mutating func drop(before start: UInt64) {
        guard start > position else { return }
        let count = min(Int(clamping: start - position), chunk.count)
        chunk = chunk.dropFirst(count)
        position += UInt64(count)
    }
}
