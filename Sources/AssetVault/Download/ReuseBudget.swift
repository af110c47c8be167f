import SealedPack
import Synchronization
import VaultCrypto

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
