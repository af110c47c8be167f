import Synchronization
public import VaultBase

/// Reads ranges of one part of a pack's content, in any order. Keeps the last piece, so that sequential small reads
/// open each piece once. Many tasks may read at once.
public final class ContentReader: Sendable {
    private let pack: OpenPack
    private let content: Range<UInt64>
    private let kept = Mutex<Piece?>(nil)

    private struct Piece {
        let range: Range<UInt64>
        let bytes: ArraySlice<UInt8>

        /// Appends the bytes in `wanted`.
        func copy(_ wanted: Range<UInt64>, to result: inout [UInt8]) {
            let part = wanted.clamped(to: range)
            let start = bytes.startIndex + Int(part.lowerBound - range.lowerBound)
            result.append(contentsOf: bytes[start..<(start + part.count)])
        }
    }

    /// - Parameter content: a range of the stream of all files' bytes, such as that of a catalog's entry.
    public init(_ pack: OpenPack, content: Range<UInt64>) {
        self.pack = pack
        self.content = content.clamped(to: 0..<pack.catalog.contentLength)
    }

    /// The verified bytes of `range`, relative to the start of the content. Memory: the bytes and a few pieces. Throws
    /// `.usage` for a range beyond the content, `.corrupt` for a damaged piece.
    public func read(_ range: Range<UInt64>) async throws(VaultError) -> [UInt8] {
        guard range.upperBound <= content.upperBound - content.lowerBound else {
            throw VaultError(
                .usage, "the content has \(content.count) bytes, not \(range.upperBound)",
                at: pack.id.description, remedy: "ask for less")
        }
        let wanted = (content.lowerBound + range.lowerBound)..<(content.lowerBound + range.upperBound)
        var result: [UInt8] = []
        guard !wanted.isEmpty else { return result }
        // Bounded, as the length of the file is untrusted.
        result.reserveCapacity(Int(min(UInt64(wanted.count), 16 << 20)))
        var position = wanted.lowerBound
        if let kept = kept.withLock({ $0 }), kept.range.contains(position) {
            kept.copy(wanted, to: &result)
            position = min(kept.range.upperBound, wanted.upperBound)
        }
        guard position < wanted.upperBound else { return result }
        // Pieces are opened in parallel; sequential reads need the last one again.
        let rest = position..<wanted.upperBound
        var last: Piece?
        try await pack.forEachPiece(pack.catalog.pieces(containing: rest)) {
            number, bytes throws(VaultError) in
            let piece = Piece(range: pack.catalog.pieceRange(number), bytes: bytes)
            piece.copy(rest, to: &result)
            last = piece
        }
        kept.withLock { $0 = last }
        return result
    }
}
