public import VaultBase
import VaultCrypto

/// Which packs may have a piece, by the first bytes of its digest. It only says where to look: the digest in a pack's index is
/// compared as a whole, and the piece itself is verified.
///
/// Memory: 16 bytes a piece, up to a limit. A pack that no longer fits is named for every piece.
public struct PieceDirectory: Sendable {
    /// Pieces at most.
    private let limit: Int
    private var table = PrefixTable<UInt32>([])
    private var added: [PrefixTable<UInt32>.Entry] = []
    /// Packs whose pieces are not in the directory.
    private var unlisted: Set<UInt32> = []

    public init(limit: Int = 1 << 20) { self.limit = limit }

    /// Adds the pieces of a pack, by its index. A damaged index counts up to the damage.
    ///
    /// - Parameter number: names the pack.
    public mutating func add(_ pack: PackFile, as number: UInt32) {
        guard Int(pack.pieceCount) <= limit - table.entries.count - added.count else {
            unlisted.insert(number)
            return
        }
        var entries = added
        added = []
        try? pack.forEachIndexRecord { _, record, _ in entries.append((record.digest.prefix, number)) }
        added = entries
    }

    /// The packs that may have some of these pieces.
    public mutating func packs(with pieces: [PiecePrefix]) -> Set<UInt32> {
        guard !pieces.isEmpty else { return [] }
        if !added.isEmpty {
            var entries = table.entries
            // So that they are not copied.
            table = PrefixTable([])
            entries += added
            added = []
            table = PrefixTable(entries)
        }
        var found = unlisted
        for piece in pieces { found.formUnion(table[piece.value]) }
        return found
    }
}

/// The first bytes of the digest of a piece.
public struct PiecePrefix: Sendable {
    let value: UInt64
}

extension PackAssembly {
    /// Whether pieces are missing that are no copies of others; false before the tail is verified.
    public var hasMissingPieces: Bool { !isTailUnverified && states.missingCount > 0 }

    /// The pieces that are missing, copies of others left out; none before the tail is verified. Memory: 8 bytes a piece.
    public func missingPieces() throws(VaultError) -> [PiecePrefix] {
        guard hasMissingPieces else { return [] }
        var found: [PiecePrefix] = []
        try partial.forEachIndexRecord { number, record, _ in
            if states.isMissing(number) { found.append(PiecePrefix(value: record.digest.prefix)) }
        }
        return found
    }
}
