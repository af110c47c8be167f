import VaultBytes
import VaultErrors

/// The pieces of a pack that equal an earlier piece; they are copied, not requested. 8 bytes a copy.
struct DuplicatePieces: Sendable {
    typealias Pair = (first: UInt32, copy: UInt32)

    /// Sorted by the first piece.
    let pairs: [Pair]

    init(in pack: PackFile) throws(VaultError) {
        pairs = try PiecesByDigest(of: pack) { _ in true }.copies()
    }

    /// The copies of a first piece.
    func copies(of number: Int) -> [Int] {
        let first = pairs.indices.partitionPoint { pairs[$0].first >= number }
        return pairs[first...].prefix { $0.first == number }.map { Int($0.copy) }
    }
}
