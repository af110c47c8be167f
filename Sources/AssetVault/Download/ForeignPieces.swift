import SealedPack
import Synchronization
import VaultErrors

/// The pieces of a file that another user may have written. It is given up for good when too many of them do not match its index.
final class ForeignPieces: PieceSource {
    /// Wrong pieces, beyond the number of right ones: a download under way has a few unwritten pieces.
    private static let tolerance = 16

    private let source: any PieceSource
    private let budget: ReuseBudget
    private let tolerated = Mutex(tolerance)

    init(_ source: any PieceSource, _ budget: ReuseBudget) { (self.source, self.budget) = (source, budget) }

    var pack: PackFile { source.pack }

    private var isGivenUp: Bool { tolerated.withLock { $0 <= 0 } }

    func has(piece number: Int, at range: Range<UInt64>) -> Bool {
        !isGivenUp && source.has(piece: number, at: range)
    }

    func ciphertext(ofPiece number: Int, at range: Range<UInt64>) throws(VaultError) -> [UInt8] {
        guard !isGivenUp else {
            throw VaultError(
                .corrupt, "too many pieces have the wrong digest", at: "piece \(number)",
                remedy: "nothing needs to be done: they are downloaded")
        }
        return try source.ciphertext(ofPiece: number, at: range)
    }

    func noteVerification(of range: Range<UInt64>, isSound: Bool) {
        let isSpent = !isSound && !budget.takeWrong(range.count)
        tolerated.withLock { tolerated in
            // Several cores verify pieces: a right one may be reported after the file was given up.
            guard tolerated > 0 else { return }
            tolerated = isSpent ? 0 : tolerated + (isSound ? 1 : -1)
        }
    }
}
