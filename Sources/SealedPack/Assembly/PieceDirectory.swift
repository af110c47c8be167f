import VaultBytes
import VaultCrypto
public import VaultErrors

/// Which packs may have a piece, by the first bytes of its digest. It only says where to look: the digest in a pack's index is
/// compared as a whole, and the piece itself is verified.
///
/// Memory: 16 bytes a piece, up to a limit. A pack that no longer fits is named for every piece.
public struct PieceDirectory: Sendable {
    /// Pieces at most.
    private let limit: Int
    private var entries: [(prefix: UInt64, pack: UInt32)] = []
    private var isSorted = true
    /// Packs whose pieces are not in the directory.
    private var unlisted: Set<UInt32> = []

    public init(limit: Int = 1 << 20) { self.limit = limit }

    /// Adds the pieces of a pack, by its index. A damaged index counts up to the damage.
    ///
    /// - Parameter number: names the pack.
    public mutating func add(_ pack: PackFile, as number: UInt32) {
        guard Int(pack.pieceCount) <= limit - entries.count else {
            unlisted.insert(number)
            return
        }
        var added = entries
        entries = []
        try? pack.forEachIndexRecord { _, record, _ in added.append((record.digest.prefix, number)) }
        entries = added
        isSorted = false
    }

    /// The packs that may have some of these pieces.
    public mutating func packs(with pieces: [PiecePrefix]) -> Set<UInt32> {
        guard !pieces.isEmpty else { return [] }
        if !isSorted {
            entries.sort { ($0.prefix, $0.pack) < ($1.prefix, $1.pack) }
            isSorted = true
        }
        var found = unlisted
        for piece in pieces {
            var index = entries.indices.partitionPoint { entries[$0].prefix >= piece.value }
            while index < entries.count, entries[index].prefix == piece.value {
                found.insert(entries[index].pack)
                index += 1
            }
        }
        return found
    }
}

/// The first bytes of the digest of a piece.
public struct PiecePrefix: Sendable {
    let value: UInt64
}

extension PackAssembly {
    /// The pieces that are missing, copies of others left out; none before the tail is verified. Memory: 8 bytes a piece.
    public func missingPieces() throws(VaultError) -> [PiecePrefix] {
        guard !isTailUnverified, states.missingCount > 0 else { return [] }
        var found: [PiecePrefix] = []
        try partial.forEachIndexRecord { number, record, _ in
            if states.isMissing(number) { found.append(PiecePrefix(value: record.digest.prefix)) }
        }
        return found
    }
}
