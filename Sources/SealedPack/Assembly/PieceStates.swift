/// Which pieces of a pack are there, and which bytes are asked for next: a byte a piece.
struct PieceStates: Sendable {
    /// A gap of pieces that are there is asked for again where it has no more bytes than this, rather than in one request
    /// more. In time a request costs more where lines are fast: 32 KiB for a round trip of 25 ms at 10 Mbit/s; but updates of
    /// many small files would then transfer up to a third more.
    static let requestCost: UInt64 = 4 << 10

    private enum State: UInt8 {
        case missing
        /// Copied when the first piece of its kind is there.
        case copied
        case present
    }

    private var states: [State]
    var count: Int { states.count }
    /// The first piece that may be missing.
    private var firstMissing = 0

    init(count: Int) { states = Array(repeating: .missing, count: count) }

    func isPresent(_ number: Int) -> Bool { states[number] == .present }
    func isMissing(_ number: Int) -> Bool { states[number] == .missing }

    mutating func notePresent(_ number: Int) { states[number] = .present }

    /// Copies of pieces that are missing need not be asked for.
    mutating func leaveOut(_ copies: DuplicatePieces) {
        for pair in copies.pairs where isMissing(Int(pair.copy)) && !isPresent(Int(pair.first)) {
            states[Int(pair.copy)] = .copied
        }
    }

    var missingCount: Int { states.reduce(0) { $0 + ($1 == .missing ? 1 : 0) } }

    /// The pieces that are asked for next, in one request: missing ones, and those between them that cost less than
    /// another request. Nil when none is missing.
    ///
    /// Joined like that, no other choice of requests costs less: not even one for all pieces.
    mutating func nextRange(_ places: PiecePlaces) -> Range<Int>? {
        while firstMissing < states.count, !isMissing(firstMissing) { firstMissing += 1 }
        return range(from: firstMissing, places)
    }

    /// The same for the first request that begins at piece `start` or later.
    func range(from start: Int, _ places: PiecePlaces) -> Range<Int>? {
        var start = start
        while start < states.count, !isMissing(start) { start += 1 }
        guard start < states.count else { return nil }
        var end = start + 1
        var next = end
        while next < states.count, places[next].lowerBound - places[end - 1].upperBound <= Self.requestCost {
            next += 1
            if isMissing(next - 1) { end = next }
        }
        return start..<end
    }
}
