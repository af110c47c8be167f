public import VaultBase

/// The cost of downloading a pack for a client that has other packs, computed from their indexes by the rule that
/// clients use for their requests.
public struct UpdateCost: Sendable, Hashable {
    /// Bytes of the whole pack.
    public let length: UInt64
    /// Bytes that are sent, including index and catalog, without HTTP headers.
    public let bytes: UInt64
    public let requests: Int
    /// Pieces of the pack, and how many need not be sent: they are present, or equal another piece of the pack.
    public let pieces: Int
    public let reusedPieces: Int

    /// Memory: 33 bytes a piece of the new pack, whatever the sources contain: 8 for its range, 1 for its state, 16 to find it by
    /// its digest, and 8 if it is a copy of another piece.
    ///
    /// - Parameters:
    ///   - pack: only its index is read.
    ///   - sources: packs whose pieces are sound; a damaged index counts up to the damage.
    /// - Throws: `.corrupt` when the index of `pack` is damaged, `.io`.
    public init(of pack: PackFile, reusing sources: [any PieceSource]) throws(VaultError) {
        let layout = pack.footer.layout
        guard !layout.prefersSingleRequest(hasReusablePacks: !sources.isEmpty) else {
            self.init(singleRequest: layout)
            return
        }
        let ranges = try PieceRanges(of: pack)
        var states = PieceStates(count: ranges.count, first: pack.manifest?.first ?? FirstPieces())
        states.excludeCopies(try DuplicatePieces(in: pack))
        var others = sources[...]
        try states.notePieces(of: pack) { others.popFirst() }
        self.init(layout, states, ranges, tailBytes: layout.tailLength)
    }

    /// - Parameter tailBytes: the bytes of index and catalog that are to be sent.
    init(_ layout: PackLayout, _ states: PieceStates, _ ranges: PieceRanges, tailBytes: UInt64) {
        length = layout.packLength
        pieces = states.count
        reusedPieces = states.count - states.missingCount
        var states = states
        var bytes = tailBytes
        var requests = tailBytes > 0 ? 1 : 0
        while let range = states.takeNextRange(ranges) {
            bytes += ranges[range.upperBound - 1].upperBound - ranges[range.lowerBound].lowerBound
            requests += 1
        }
        self.bytes = bytes
        self.requests = requests
    }

    /// One request for the whole pack.
    init(singleRequest layout: PackLayout) {
        length = layout.packLength
        bytes = layout.packLength
        requests = 1
        pieces = Int(layout.pieceCount)
        reusedPieces = 0
    }
}

extension PieceStates {
    /// Marks pieces as present that are in the indexes of other packs.
    ///
    /// - Parameter next: returns the other packs one by one; not called when no piece is missing any more.
    mutating func notePieces(
        of pack: PackFile, in next: () throws(VaultError) -> (any PieceSource)?
    ) throws(VaultError) {
        guard missingCount > 0 else { return }
        let wanted = try PiecesByDigest(of: pack, where: isMissing)
        while missingCount > 0, let other = try next() {
            wanted.forEachMatch(in: other.pack) { number, range in
                if other.has(pieceAt: range) { notePresent(number) }
            }
        }
    }
}
