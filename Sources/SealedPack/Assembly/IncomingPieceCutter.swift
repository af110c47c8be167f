/// Cuts what a host sends, from some place in a pack on, into pieces.
struct IncomingPieceCutter {
    private let places: PiecePlaces
    private(set) var arriving: IncomingPiece
    /// Where the rest of the chunk begins in the pack.
    private var position: UInt64
    private var chunk: ArraySlice<UInt8> = []
    /// The piece in which it begins.
    private var number: Int

    /// - Parameter arriving: the piece whose first bytes came before.
    init(_ arriving: IncomingPiece, at position: UInt64, _ places: PiecePlaces) {
        self.places = places
        self.arriving = arriving
        self.position = position
        number = places.first(endingAfter: max(position, PackLayout.piecesOffset))
    }

    /// Bytes that follow on those before.
    mutating func add(_ bytes: [UInt8]) { chunk = bytes[...] }

    /// The next piece that is all there; nil when more bytes are needed. What is no piece, or not wanted, is passed over.
    mutating func next(where isWanted: (Int) -> Bool) -> IncomingPiece.Whole? {
        drop(before: PackLayout.piecesOffset)
        while !chunk.isEmpty, number < places.count {
            let piece = places[number]
            let part = chunk.prefix(Int(clamping: piece.upperBound - position))
            let whole =
                isWanted(number)
                ? arriving.add(part.span, at: position, to: number, of: piece) : nil
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
