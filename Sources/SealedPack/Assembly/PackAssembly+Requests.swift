public import VaultErrors

/// How the rest of a pack is best asked for, and what that costs.
extension PackAssembly {
    /// Whether all of it is best asked for in one request, without a look at its index first.
    ///
    /// - Parameter others: whether there are packs to ``reuse(from:progress:)`` pieces of.
    public func comesAtOnce(besidesOthers others: Bool) -> Bool {
        layout.comesAtOnce(besidesOthers: others)
    }

    /// What the rest of the pack costs where other packs are as sound as their indexes say; nil before the tail is verified.
    ///
    /// - Parameter tail: the bytes of it that are to be counted.
    public func cost(holding others: [any PieceSource], countingTail tail: UInt64) throws(VaultError)
        -> UpdateCost?
    {
        guard let places else { return nil }
        var states = states
        try states.notePieces(of: packFile, heldIn: others)
        return UpdateCost(layout, states, places, tailBytes: tail)
    }

    /// What it costs to ask for all of the pack at once.
    public var costOfAll: UpdateCost { UpdateCost(ofAllAtOnce: layout) }
}
