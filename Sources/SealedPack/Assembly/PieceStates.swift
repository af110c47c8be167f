/// Which pieces of a pack are present, and which are requested next: a byte a piece.
struct PieceStates: Sendable {
    /// The largest gap of present pieces, in bytes, that is requested again instead of making another request. A
    /// request takes more time on fast lines (32 KiB for a round trip of 25 ms at 10 Mbit/s), but updates of many small
    /// files would then transfer up to a third more.
    static let requestCost: UInt64 = 4 << 10

    private enum State: UInt8 {
        case missing
        /// Copied when the equal first piece is present.
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

    /// Copies of missing pieces need not be requested.
    mutating func excludeCopies(_ copies: DuplicatePieces) {
        for pair in copies.pairs where isMissing(Int(pair.copy)) && !isPresent(Int(pair.first)) {
            states[Int(pair.copy)] = .copied
        }
    }

    var missingCount: Int { states.reduce(0) { $0 + ($1 == .missing ? 1 : 0) } }

    /// The pieces of the next request: missing ones, and present ones between them that cost less than another request.
    /// Nil when none is missing. No other choice of requests costs less.
    mutating func nextRange(_ ranges: PieceRanges) -> Range<Int>? {
        while firstMissing < states.count, !isMissing(firstMissing) { firstMissing += 1 }
        return range(from: firstMissing, ranges)
    }

    /// The same for the first request that begins at piece `start` or later.
    func range(from start: Int, _ ranges: PieceRanges) -> Range<Int>? {
        var start = start
        while start < states.count, !isMissing(start) { start += 1 }
        guard start < states.count else { return nil }
        var end = start + 1
        var next = end
        while next < states.count, ranges[next].lowerBound - ranges[end - 1].upperBound <= Self.requestCost {
            next += 1
            if isMissing(next - 1) { end = next }
        }
        return start..<end
    }
}
