package import VaultErrors

/// Where the parts of a pack lie: a pure function of its length, its number of pieces and its catalog's length.
package struct PackLayout: Equatable, Sendable {
    package let packCount: UInt64
    package let pieceCount: UInt32
    package let catalogCount: UInt64
    let indexOffset: UInt64
    package let catalogOffset: UInt64
    package let footerOffset: UInt64

    static let piecesOffset = UInt64(PackHeader.count)

    /// Throws `.corrupt` when the numbers can't belong to one pack or pass the limits.
    package init(packCount: UInt64, pieceCount: UInt32, catalogCount: UInt64, place: String)
        throws(VaultError)
    {
        func refuse(_ problem: String) -> VaultError {
            VaultError(.corrupt, problem, at: place, remedy: "fetch the pack and its manifest again")
        }
        guard pieceCount <= FormatLimits.maximumPieces else {
            throw refuse("it states \(pieceCount) pieces, too many")
        }
        guard catalogCount <= FormatLimits.maximumCatalogCount else {
            throw refuse("it states a catalog of \(catalogCount) bytes, too many")
        }
        let fixed = UInt64(PackHeader.count + PackFooter.count)
        let tail = UInt64(pieceCount) * UInt64(IndexRecord.count) + catalogCount
        guard packCount <= UInt64(Int64.max), packCount >= fixed, packCount - fixed >= tail else {
            throw refuse("its \(packCount) bytes can't hold the parts that it states")
        }
        guard catalogCount > 0, pieceCount > 0 || packCount - fixed == tail else {
            throw refuse("it states no pieces, or no catalog, for its \(packCount) bytes")
        }
        self.packCount = packCount
        self.pieceCount = pieceCount
        self.catalogCount = catalogCount
        footerOffset = packCount - UInt64(PackFooter.count)
        catalogOffset = footerOffset - catalogCount
        indexOffset = footerOffset - tail
    }
}
