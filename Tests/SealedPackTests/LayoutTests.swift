import Testing

@testable import SealedPack

struct LayoutTests {
    /// No pack is so, though the numbers add up: nothing of it could be asked for.
    @Test(arguments: [(1 << 20, 0, 100), (1 << 20, 0, 0), (1 << 20, 3, 0)] as [(UInt64, UInt32, UInt64)])
    func piecesAndACatalog(count: UInt64, pieces: UInt32, catalog: UInt64) {
        #expect(throws: (any Error).self) {
            try PackLayout(packCount: count, pieceCount: pieces, catalogCount: catalog, place: "here")
        }
    }
}
