/// Which pieces of a pack are present, and which are requested next: a byte a piece.
struct PieceStates: Sendable {
    /// The largest gap of present pieces, in bytes, that is requested again instead of making another request. A request takes more
    /// time on fast networks (32 KiB for a round trip of 25 ms at 10 Mbit/s), but updates of many small files would then transfer
    /// up to a third more.
    static let requestCost: UInt64 = 4 << 10

    private enum State: UInt8 {
        case missing
        /// Copied when the equal first piece is present.
        case copied
        /// Not needed here.
        case elsewhere
        case present
    }

    private var states: [State]
    var count: Int { states.count }
    /// The first piece that may be missing.
    private var firstMissing = 0
    /// The stretches that are requested before all others.
    private var first: ArraySlice<Range<Int>>

    init(count: Int, first: FirstPieces = FirstPieces()) {
        states = Array(repeating: .missing, count: count)
        self.first = first.stretches[...]
    }

    func isPresent(_ number: Int) -> Bool { states[number] == .present }
    func isMissing(_ number: Int) -> Bool { states[number] == .missing }
    /// Whether the piece is to be written when it is received.
    func isWanted(_ number: Int) -> Bool { isMissing(number) || states[number] == .copied }

    mutating func notePresent(_ number: Int) { states[number] = .present }
    mutating func noteElsewhere(_ number: Int) { states[number] = .elsewhere }

    /// Copies of pieces that are not needed here are not made here, either.
    mutating func requestCopies(_ copies: DuplicatePieces) {
        for pair in copies.pairs
        where states[Int(pair.first)] == .elsewhere && states[Int(pair.copy)] == .copied {
            states[Int(pair.copy)] = .missing
        }
    }

    /// Copies of missing pieces need not be requested.
    mutating func excludeCopies(_ copies: DuplicatePieces) {
        for pair in copies.pairs where isMissing(Int(pair.copy)) && !isPresent(Int(pair.first)) {
            states[Int(pair.copy)] = .copied
        }
    }

    var missingCount: Int { states.reduce(0) { $0 + ($1 == .missing ? 1 : 0) } }

    /// The pieces of the next request: missing ones, and present ones between them that cost less than another request.
    /// Nil when none is missing. Within the first stretches, and after them, no other choice of requests costs less.
    mutating func nextRange(_ ranges: PieceRanges) -> Range<Int>? {
        while let stretch = first.first {
            if let range = range(in: stretch.clamped(to: 0..<states.count), ranges) {
                // What comes before it is not looked at again.
                first[first.startIndex] = range.lowerBound..<stretch.upperBound
                return range
            }
            first.removeFirst()
        }
        while firstMissing < states.count, !isMissing(firstMissing) { firstMissing += 1 }
        return range(in: firstMissing..<states.count, ranges)
    }

    /// The same, for a request that is made before the ones before it were answered: its pieces count as present.
    mutating func takeNextRange(_ ranges: PieceRanges) -> Range<Int>? {
        guard let range = nextRange(ranges) else { return nil }
        for number in range { notePresent(number) }
        return range
    }

    /// The first request within a stretch.
    private func range(in stretch: Range<Int>, _ ranges: PieceRanges) -> Range<Int>? {
        guard let start = stretch.first(where: isMissing) else { return nil }
        var end = start + 1
        var next = end
        while next < stretch.upperBound,
            ranges[next].lowerBound - ranges[end - 1].upperBound <= Self.requestCost
        {
            next += 1
            if isMissing(next - 1) { end = next }
        }
        return start..<end
    }
}
