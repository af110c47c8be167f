import Synchronization
public import VaultErrors

/// Reads ranges of one part of a pack's content, in any order. The piece read last is kept, so that small reads one
/// after the other open each piece once. Many tasks may read at once.
public final class ContentReader: Sendable {
    private let pack: OpenPack
    private let content: Range<UInt64>
    private let kept = Mutex<Piece?>(nil)

    private struct Piece {
        let place: Range<UInt64>
        let bytes: ArraySlice<UInt8>

        /// Appends what lies in `wanted`.
        func copy(_ wanted: Range<UInt64>, to result: inout [UInt8]) {
            let part = wanted.clamped(to: place)
            let start = bytes.startIndex + Int(part.lowerBound - place.lowerBound)
            result.append(contentsOf: bytes[start..<(start + part.count)])
        }
    }

    /// - Parameter content: a range of the stream of all files' bytes, such as that of a catalog's entry.
    public init(_ pack: OpenPack, content: Range<UInt64>) {
        self.pack = pack
        self.content = content.clamped(to: 0..<pack.catalog.contentCount)
    }

    /// The bytes of `range`, counted from the start of the content, all verified. Besides them a few pieces are in memory.
    /// Throws `.usage` for a range beyond the content, `.corrupt` for a damaged piece.
    public func read(_ range: Range<UInt64>) async throws(VaultError) -> [UInt8] {
        guard range.upperBound <= content.upperBound - content.lowerBound else {
            throw VaultError(
                .usage, "the content has \(content.count) bytes, not \(range.upperBound)",
                at: pack.id.description, remedy: "ask for less")
        }
        let wanted = (content.lowerBound + range.lowerBound)..<(content.lowerBound + range.upperBound)
        var result: [UInt8] = []
        guard !wanted.isEmpty else { return result }
        // Not all at once: how long a file is, its maker says.
        result.reserveCapacity(Int(min(UInt64(wanted.count), 16 << 20)))
        var position = wanted.lowerBound
        if let kept = kept.withLock({ $0 }), kept.place.contains(position) {
            kept.copy(wanted, to: &result)
            position = min(kept.place.upperBound, wanted.upperBound)
        }
        guard position < wanted.upperBound else { return result }
        // Pieces are opened in parallel; whoever reads on wants the last one again.
        let rest = position..<wanted.upperBound
        var last: Piece?
        try await pack.forEachPiece(pack.catalog.pieces(holding: rest)) { number, bytes throws(VaultError) in
            let piece = Piece(place: pack.catalog.pieceRange(number), bytes: bytes)
            piece.copy(rest, to: &result)
            last = piece
        }
        kept.withLock { $0 = last }
        return result
    }
}
