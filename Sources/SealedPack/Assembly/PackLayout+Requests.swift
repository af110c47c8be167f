extension PackLayout {
    /// A pack up to this size is fetched in one request when there are no packs to reuse.
    private static let smallPack: UInt64 = 256 << 10

    /// Index and catalog.
    var tail: Range<UInt64> { indexOffset..<footerOffset }
    var tailLength: UInt64 { footerOffset - indexOffset }

    /// Whether one request for the whole pack is cheaper than reading its index first.
    ///
    /// - Parameter hasReusablePacks: whether there are packs that may contain some of its pieces.
    func prefersSingleRequest(hasReusablePacks: Bool) -> Bool {
        hasReusablePacks ? packLength - tailLength <= PieceStates.requestCost : packLength <= Self.smallPack
    }
}
