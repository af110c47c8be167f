import VaultBytes

/// The first bytes of the piece that is being received.
struct IncomingPiece: Sendable {
    /// A complete piece whose digest is not verified.
    struct Complete: Sendable {
        let number: Int
        let bytes: [UInt8]
        /// Whether its bytes came from several senders.
        let hasSeveralSenders: Bool
    }

    private var number = -1
    private var bytes: [UInt8] = []
    private var hasSeveralSenders = false

    /// Bytes received of the current piece.
    var length: Int { bytes.count }

    /// Bytes received of piece `number`.
    func length(ofPiece number: Int) -> Int { self.number == number ? bytes.count : 0 }

    /// The following bytes come from another sender.
    mutating func changeSender() { hasSeveralSenders = true }

    /// Adds bytes of one piece, from `position` in the pack. Bytes of a piece whose start was not received are dropped.
    mutating func add(_ part: Span<UInt8>, at position: UInt64, to number: Int, of piece: Range<UInt64>)
        -> Complete?
    {
        if position == piece.lowerBound {
            self.number = number
            hasSeveralSenders = false
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
        return Complete(number: number, bytes: bytes, hasSeveralSenders: hasSeveralSenders)
    }
}
