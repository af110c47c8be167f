import Testing

@testable import SealedPack

struct PackLayoutTests {
    /// The numbers add up, but no pack has this layout.
    @Test(arguments: [(1 << 20, 0, 100), (1 << 20, 0, 0), (1 << 20, 3, 0)] as [(UInt64, UInt32, UInt64)])
    func layoutWithoutPiecesOrCatalogIsRefused(count: UInt64, pieces: UInt32, catalog: UInt64) {
        #expect(throws: (any Error).self) {
            try PackLayout(packLength: count, pieceCount: pieces, catalogLength: catalog, place: "here")
        }
    }
}
