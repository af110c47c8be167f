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
        let bytes: [UInt8]

        /// Appends what lies in `wanted`.
        func copy(_ wanted: Range<UInt64>, to result: inout [UInt8]) {
            let part = wanted.clamped(to: place)
            let start = Int(part.lowerBound - place.lowerBound)
            result.append(contentsOf: bytes[start..<(start + part.count)])
        }
    }

    /// - Parameter content: a range of the stream of all files' bytes, such as that of a catalog's entry.
    public init(_ pack: OpenPack, content: Range<UInt64>) {
        self.pack = pack
        self.content = content.clamped(to: 0..<pack.catalog.contentCount)
    }

    /// The bytes of `range`, counted from the start of the content, all proven. Besides them a few pieces are in memory.
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
        let last = pack.catalog.piece(holding: wanted.upperBound - 1)
        let lastPlace = pack.catalog.pieceRange(last)
        if position < lastPlace.lowerBound {
            try await pack.read(position..<lastPlace.lowerBound) { part throws(VaultError) in
                for index in part.indices { result.append(part[index]) }
            }
            position = lastPlace.lowerBound
        }
        try piece(last, at: lastPlace).copy(position..<wanted.upperBound, to: &result)
        return result
    }

    private func piece(_ number: Int, at place: Range<UInt64>) throws(VaultError) -> Piece {
        if let kept = kept.withLock({ $0 }), kept.place == place { return kept }
        let bytes = try pack.plaintext(ofPiece: number, ciphertext: try pack.ciphertext(ofPiece: number))
        let piece = Piece(place: place, bytes: bytes)
        kept.withLock { $0 = piece }
        return piece
    }
}
