public import VaultErrors

/// What a download of a pack costs a client that holds some packs already: computed from their indexes alone, by the very
/// rule by which a client asks for what is missing.
public struct UpdateCost: Sendable, Hashable {
    /// Bytes of the whole pack.
    public let length: UInt64
    /// Bytes that are sent, index and catalog included, HTTP headers not.
    public let bytes: UInt64
    public let requests: Int
    /// Pieces of the pack, and how many of them need not be sent: they are held, or equal another one of the pack.
    public let pieces: Int
    public let reusedPieces: Int

    /// Memory: 33 bytes a piece of the new pack, whatever the others have.
    ///
    /// - Parameters:
    ///   - pack: its index must be there; the pieces are not looked at.
    ///   - held: packs whose pieces are sound; one whose index is damaged gives nothing from there on.
    /// - Throws: `.corrupt` when the index of `pack` is damaged, `.io`.
    public init(of pack: PackFile, holding held: [any PieceSource]) throws(VaultError) {
        let layout = pack.footer.layout
        guard !layout.comesAtOnce(besidesOthers: !held.isEmpty) else {
            self.init(ofAllAtOnce: layout)
            return
        }
        let places = try PiecePlaces(of: pack)
        var states = PieceStates(count: places.count)
        states.leaveOut(try DuplicatePieces(in: pack))
        try states.notePieces(of: pack, heldIn: held)
        self.init(layout, states, places, tailBytes: layout.tailCount)
    }

    /// - Parameter tailBytes: how much of index and catalog is to be sent.
    init(_ layout: PackLayout, _ states: PieceStates, _ places: PiecePlaces, tailBytes: UInt64) {
        var bytes = tailBytes
        var requests = tailBytes > 0 ? 1 : 0
        var position = 0
        while let range = states.range(from: position, places) {
            bytes += places[range.upperBound - 1].upperBound - places[range.lowerBound].lowerBound
            requests += 1
            position = range.upperBound
        }
        length = layout.packCount
        pieces = states.count
        reusedPieces = states.count - states.missingCount
        self.bytes = bytes
        self.requests = requests
    }

    /// Of a pack that is sent as a whole.
    init(ofAllAtOnce layout: PackLayout) {
        length = layout.packCount
        bytes = layout.packCount
        requests = 1
        pieces = Int(layout.pieceCount)
        reusedPieces = 0
    }
}

extension PieceStates {
    /// Takes pieces for present that other packs have, by their indexes.
    mutating func notePieces(of pack: PackFile, heldIn others: [any PieceSource]) throws(VaultError) {
        guard missingCount > 0, !others.isEmpty else { return }
        let wanted = try PiecesByDigest(of: pack, where: isMissing)
        for other in others {
            try? other.pack.forEachIndexRecord { otherNumber, record, offset throws(VaultError) in
                guard other.has(piece: otherNumber, at: offset..<(offset + UInt64(record.ciphertextCount)))
                else { return }
                if let number = try wanted.first(with: record.digest) { notePresent(number) }
            }
        }
    }
}

extension PackLayout {
    /// A pack up to so many bytes comes in one request where nothing of it can be there.
    private static let smallPack: UInt64 = 256 << 10

    /// Index and catalog.
    var tail: Range<UInt64> { indexOffset..<footerOffset }
    var tailCount: UInt64 { footerOffset - indexOffset }

    /// Whether a download begins, and ends, with one request for all: where it is not worth another one to look first at
    /// the index for what is missing.
    ///
    /// - Parameter others: whether there are packs that may hold some of its pieces.
    func comesAtOnce(besidesOthers others: Bool) -> Bool {
        others ? packCount - tailCount <= PieceStates.requestCost : packCount <= Self.smallPack
    }
}
