import SealedPack
import Synchronization
import VaultBase
import VaultCrypto

/// The pieces of a file that another user may have written. It is given up for good when too many of them do not match its index.
final class UntrustedPieces: PieceSource {
    /// Wrong pieces, beyond the number of right ones: a download under way has a few unwritten pieces.
    private static let tolerance = 16

    private let source: any PieceSource
    private let budget: ReuseBudget
    private let tolerated = Mutex(tolerance)

    init(_ source: any PieceSource, _ budget: ReuseBudget) { (self.source, self.budget) = (source, budget) }

    var pack: PackFile { source.pack }

    private var isGivenUp: Bool { tolerated.withLock { $0 <= 0 } }

    func has(pieceAt range: Range<UInt64>) -> Bool {
        !isGivenUp && source.has(pieceAt: range)
    }

    func ciphertext(at range: Range<UInt64>) throws(VaultError) -> [UInt8] {
        guard !isGivenUp else {
            throw VaultError(
                .corrupt, "too many pieces have the wrong digest", at: "bytes \(range)",
                remedy: "nothing needs to be done: they are downloaded")
        }
        return try source.ciphertext(at: range)
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

/// How much a run reads of files that another user may have written, to find pieces in them: otherwise forged files could delay the
/// download without limit. Once the budget is spent, pieces are downloaded.
///
/// The index of a pack whose metadata this program verified costs nothing, because its publisher decided its length.
final class ReuseBudget: Sendable {
    private struct Rest {
        var records: Int
        var wrongBytes: Int
        /// By the digests of their files.
        var known: [SHA256Digest: PackManifest] = [:]
    }

    private let rest: Mutex<Rest>

    /// Opening a file counts as this many records.
    private static let smallestIndex = 256

    /// - Parameters:
    ///   - records: of indexes; two readings of the largest one by default.
    ///   - wrongBytes: of pieces with the wrong digest.
    init(records: Int = 2 * Int(FormatLimits.maximumPieces), wrongBytes: Int = 1 << 30) {
        rest = Mutex(Rest(records: records, wrongBytes: wrongBytes))
    }

    /// A pack whose metadata were verified.
    func note(_ pack: PackManifest) { rest.withLock { $0.known[pack.sha256] = pack } }

    func knows(_ digest: SHA256Digest?) -> Bool {
        digest.map { digest in rest.withLock { $0.known[digest] != nil } } ?? false
    }

    /// Takes one reading of a file's index from the budget; false where it does not suffice.
    ///
    /// - Parameters:
    ///   - id: the pack in whose folder the file is; nil for a download.
    ///   - digest: of the whole file, according to its name.
    func takeIndex(of file: PackFile, of id: PackID?, named digest: SHA256Digest?) -> Bool {
        let count = max(Int(file.pieceCount), Self.smallestIndex)
        return rest.withLock { rest in
            guard rest.wrongBytes > 0 else { return false }
            if let pack = digest.flatMap({ rest.known[$0] }), id == nil || id == pack.id, file.matches(pack) {
                return true
            }
            guard rest.records >= count else { return false }
            rest.records -= count
            return true
        }
    }

    /// Whether more pieces may be read, after some bytes had the wrong digest.
    func takeWrong(_ count: Int) -> Bool {
        rest.withLock { rest in
            rest.wrongBytes -= min(count, rest.wrongBytes)
            return rest.wrongBytes > 0
        }
    }
}
