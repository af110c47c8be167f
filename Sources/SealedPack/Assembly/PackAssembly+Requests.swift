public import VaultErrors

/// The cheapest requests for the rest of a pack, and their cost.
extension PackAssembly {
    /// Whether one request for the whole pack is cheaper than reading its index first.
    ///
    /// - Parameter hasReusablePacks: whether there are packs to ``reuse(from:progress:)`` pieces of.
    public func prefersSingleRequest(hasReusablePacks: Bool) -> Bool {
        layout.prefersSingleRequest(hasReusablePacks: hasReusablePacks)
    }

    /// The cost of the rest of the pack if the sources have all pieces of their indexes; nil before the tail is
    /// verified.
    ///
    /// - Parameters:
    ///   - next: returns the sources one by one; not called when no piece is missing any more.
    ///   - tailLength: the bytes of the tail that are to be counted.
    public func cost(
        reusing next: () throws(VaultError) -> (any PieceSource)?, countingTail tailLength: UInt64
    ) throws(VaultError) -> UpdateCost? {
        guard let ranges else { return nil }
        var states = states
        try states.notePieces(of: packFile, in: next)
        return UpdateCost(layout, states, ranges, tailBytes: tailLength)
    }

    /// The cost of one request for the whole pack.
    public var costOfSingleRequest: UpdateCost { UpdateCost(singleRequest: layout) }
}
