import VaultBytes
import VaultErrors

/// The byte ranges of a pack's pieces, from its index: 8 bytes a piece.
struct PieceRanges: Sendable {
    private let ends: [UInt64]

    /// Throws `.corrupt` for an index that is impossible, or whose digest is not that of the footer.
    init(of pack: PackFile) throws(VaultError) {
        var ends: [UInt64] = []
        ends.reserveCapacity(Int(pack.pieceCount))
        try pack.forEachIndexRecord { _, record, offset in
            ends.append(offset + UInt64(record.ciphertextLength))
        }
        self.ends = ends
    }

    var count: Int { ends.count }

    /// The end of the last piece; the offset of the first one if there is none.
    var end: UInt64 { ends.last ?? PackLayout.piecesOffset }

    /// Empty for a piece that the pack does not have.
    subscript(number: Int) -> Range<UInt64> {
        guard ends.indices.contains(number) else { return 0..<0 }
        return (number == 0 ? PackLayout.piecesOffset : ends[number - 1])..<ends[number]
    }

    /// The first piece that ends after `position`; ``count`` when there is none.
    func first(endingAfter position: UInt64) -> Int {
        ends.indices.partitionPoint { ends[$0] > position }
    }
}
