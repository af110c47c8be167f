import VaultBytes

/// The piece that is arriving: its first bytes. What hosts send is cut into pieces here.
struct IncomingPiece: Sendable {
    /// A piece that is all there; nobody has looked at its digest.
    struct Whole: Sendable {
        let number: Int
        let bytes: [UInt8]
        /// Its bytes came from several senders.
        let isMixed: Bool
    }

    private var number = -1
    private var bytes: [UInt8] = []
    private var isMixed = false

    /// How many bytes are here, of whichever piece.
    var count: Int { bytes.count }

    /// How many of a piece's bytes are here.
    func count(ofPiece number: Int) -> Int { self.number == number ? bytes.count : 0 }

    /// Somebody else sends what follows.
    mutating func changeSender() { isMixed = true }

    /// Takes bytes of one piece that stand at `position` in the pack. Those of a piece whose first bytes never came are
    /// of no use.
    mutating func add(_ part: Span<UInt8>, at position: UInt64, to number: Int, of piece: Range<UInt64>)
        -> Whole?
    {
        if position == piece.lowerBound {
            self.number = number
            isMixed = false
            bytes.removeAll(keepingCapacity: true)
            bytes.reserveCapacity(piece.count)
        }
        guard self.number == number, UInt64(bytes.count) == position - piece.lowerBound else { return nil }
        bytes.append(copying: part)
        guard bytes.count == piece.count else { return nil }
        defer {
            self.number = -1
            bytes = []
        }
        return Whole(number: number, bytes: bytes, isMixed: isMixed)
    }
}
