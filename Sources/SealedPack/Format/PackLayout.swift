package import VaultErrors

/// The offsets of a pack's parts, which follow from its length, its number of pieces and its catalog's length.
package struct PackLayout: Equatable, Sendable {
    package let packLength: UInt64
    package let pieceCount: UInt32
    package let catalogLength: UInt64
    let indexOffset: UInt64
    package let catalogOffset: UInt64
    package let footerOffset: UInt64

    static let piecesOffset = UInt64(PackHeader.length)

    /// Throws `.corrupt` when the numbers contradict each other or exceed the limits.
    package init(packLength: UInt64, pieceCount: UInt32, catalogLength: UInt64, place: String)
        throws(VaultError)
    {
        func refuse(_ problem: String) -> VaultError {
            VaultError(.corrupt, problem, at: place, remedy: "fetch the pack and its manifest again")
        }
        guard pieceCount <= FormatLimits.maximumPieces else {
            throw refuse("it states \(pieceCount) pieces, too many")
        }
        guard catalogLength <= FormatLimits.maximumCatalogCiphertextLength else {
            throw refuse("it states a catalog of \(catalogLength) bytes, too many")
        }
        let fixed = UInt64(PackHeader.length + PackFooter.length)
        let tail = UInt64(pieceCount) * UInt64(IndexRecord.length) + catalogLength
        guard packLength <= UInt64(Int64.max), packLength >= fixed, packLength - fixed >= tail else {
            throw refuse("its \(packLength) bytes can't hold the parts that it states")
        }
        guard catalogLength > 0, pieceCount > 0 || packLength - fixed == tail else {
            throw refuse("it states no pieces, or no catalog, for its \(packLength) bytes")
        }
        self.packLength = packLength
        self.pieceCount = pieceCount
        self.catalogLength = catalogLength
        footerOffset = packLength - UInt64(PackFooter.length)
        catalogOffset = footerOffset - catalogLength
        indexOffset = footerOffset - tail
    }
}
