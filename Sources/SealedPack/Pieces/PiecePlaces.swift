import VaultBytes
import VaultErrors

/// Where the pieces of a pack lie, by its index: 8 bytes a piece.
struct PiecePlaces: Sendable {
    /// Where each piece ends.
    private let ends: [UInt64]

    /// Throws `.corrupt` for an index that is not the one of the footer, or is impossible.
    init(of pack: PackFile) throws(VaultError) {
        var ends: [UInt64] = []
        ends.reserveCapacity(Int(pack.pieceCount))
        try pack.forEachIndexRecord { _, record, offset in
            ends.append(offset + UInt64(record.ciphertextCount))
        }
        self.ends = ends
    }

    var count: Int { ends.count }

    /// Where the last piece ends; where the first would begin, if there is none.
    var end: UInt64 { ends.last ?? PackLayout.piecesOffset }

    /// Empty for a piece that the pack does not have.
    subscript(number: Int) -> Range<UInt64> {
        guard ends.indices.contains(number) else { return 0..<0 }
        return (number == 0 ? PackLayout.piecesOffset : ends[number - 1])..<ends[number]
    }

    /// The first piece that ends behind `position`; ``count`` when there is none.
    func first(endingAfter position: UInt64) -> Int {
        ends.indices.partitionPoint { ends[$0] > position }
    }
}
