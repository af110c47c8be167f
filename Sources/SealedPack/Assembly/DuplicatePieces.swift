import VaultBytes
import VaultErrors

/// The pieces of a pack that equal an earlier one of it: they are copied, not asked for. 8 bytes a copy.
struct DuplicatePieces: Sendable {
    typealias Pair = (first: UInt32, copy: UInt32)

    /// In the order of the first pieces.
    let pairs: [Pair]

    init(in pack: PackFile) throws(VaultError) {
        pairs = try PiecesByDigest(of: pack) { _ in true }.copies()
    }

    /// The copies of a piece that is the first of its kind.
    func copies(of number: Int) -> [Int] {
        let first = pairs.indices.partitionPoint { pairs[$0].first >= number }
        return pairs[first...].prefix { $0.first == number }.map { Int($0.copy) }
    }
}
