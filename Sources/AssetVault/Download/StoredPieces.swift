import SealedPack
import Synchronization
import VaultFileSystem

/// The pieces of a file in the store, which may have only some of its pack: what is not a hole counts, and what a base has. A file that
/// another user may have written is given up for good when too many of its pieces do not match its index.
final class StoredPieces: PieceSource {
    /// Wrong pieces, beyond the number of right ones: a download under way has a few unwritten pieces.
    private static let tolerance = 16

    let pack: PackFile
    /// Ascending.
    private let present: [Range<UInt64>]
    /// Nil for a file that no other user may have written.
    private let budget: ReuseBudget?
    private let tolerated = Mutex(tolerance)

    /// Nil where its holes can't be found.
    init?(_ pack: PackFile, distrustedWithin budget: ReuseBudget?) {
        guard let present = try? pack.file.dataRanges(in: 0..<pack.length) else { return nil }
        (self.pack, self.present, self.budget) = (pack, present, budget)
    }

    func has(pieceAt range: Range<UInt64>) -> Bool {
        tolerated.withLock { $0 > 0 } && (present.cover(range) || pack.isInBase(range))
    }

    func noteVerification(of range: Range<UInt64>, isSound: Bool) {
        guard let budget else { return }
        let isSpent = !isSound && !budget.takeWrong(range.count)
        tolerated.withLock { tolerated in
            // Several cores verify pieces: a right one may be reported after the file was given up.
            guard tolerated > 0 else { return }
            tolerated = isSpent ? 0 : tolerated + (isSound ? 1 : -1)
        }
    }
}
