public import VaultErrors

/// How the rest of a pack is best asked for, and what that costs.
extension PackAssembly {
    /// Whether all of it is best asked for in one request, without a look at its index first.
    ///
    /// - Parameter others: whether there are packs to ``reuse(from:progress:)`` pieces of.
    public func comesAtOnce(besidesOthers others: Bool) -> Bool {
        layout.comesAtOnce(besidesOthers: others)
    }

    /// The bytes to ask for after `wanted`, in requests of their own, which may be under way at the same time.
    ///
    /// - Parameters:
    ///   - count: of requests, with the first one.
    ///   - bytes: of all together; nothing where the first one has more.
    public func ranges(after wanted: Range<UInt64>, upTo count: Int, bytes: UInt64) -> [Range<UInt64>] {
        guard let places else { return [] }
        var found: [Range<UInt64>] = []
        var sum = UInt64(wanted.count)
        var piece = places.first(endingAfter: wanted.upperBound)
        while found.count + 1 < count, let range = states.range(from: piece, places) {
            let next = places[range.lowerBound].lowerBound..<places[range.upperBound - 1].upperBound
            sum += UInt64(next.count)
            guard sum <= bytes else { break }
            found.append(next)
            piece = range.upperBound
        }
        return found
    }

    /// What the rest of the pack costs where other packs are as sound as their indexes say; nil before the tail is proven.
    ///
    /// - Parameter tail: the bytes of it that are to be counted.
    public func cost(holding others: [PackFile], countingTail tail: UInt64) throws(VaultError) -> UpdateCost?
    {
        guard let places else { return nil }
        var states = states
        try states.notePieces(of: packFile, heldIn: others)
        return UpdateCost(layout, states, places, tailBytes: tail)
    }

    /// What it costs to ask for all of the pack at once.
    public var costOfAll: UpdateCost { UpdateCost(ofAllAtOnce: layout) }
}
