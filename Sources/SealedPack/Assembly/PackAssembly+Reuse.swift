import VaultConcurrency
public import VaultErrors
import VaultFileSystem

extension PackAssembly {
    /// Copies missing pieces from other packs. Each is verified by the digest in this pack's index as it is read, so
    /// the other pack may be damaged, cut short or changing. Only packs of the same content key have equal pieces.
    ///
    /// Does nothing before the tail is verified. Memory: 33 bytes a piece, and the pieces that are being copied.
    ///
    /// - Parameters:
    ///   - next: returns the other packs one by one, best first; not called when no piece is missing any more.
    ///   - progress: called with ``presentLength``.
    /// - Throws: `.io` when this pack can't be written.
    public mutating func reuse(
        from next: () throws(VaultError) -> (any PieceSource)?, progress: (UInt64) -> Void
    ) async throws(VaultError) {
        guard let ranges, states.missingCount > 0 else { return }
        let wanted = try PiecesByDigest(of: packFile, where: states.isMissing)
        while states.missingCount > 0, let other = try next() {
            try await copy(findPieces(wanted, in: other), of: other, ranges, progress: progress)
        }
    }

    /// A missing piece, its number in another pack, and its offset there.
    private typealias Match = (number: UInt32, other: UInt32, offset: UInt64)

    /// The missing pieces that are in another pack's index.
    private func findPieces(_ wanted: PiecesByDigest, in other: any PieceSource) -> [Match] {
        var matches: [Match] = []
        var isFound = [Bool](repeating: false, count: states.count)
        matches.reserveCapacity(min(Int(other.pack.pieceCount), states.missingCount))
        // Records of a damaged index are still usable, as every piece is verified.
        try? other.pack.forEachIndexRecord { otherNumber, record, offset throws(VaultError) in
            guard let number = try wanted.first(with: record.digest), states.isMissing(number),
                !isFound[number],
                other.has(piece: otherNumber, at: offset..<(offset + UInt64(record.ciphertextLength)))
            else { return }
            isFound[number] = true
            matches.append((UInt32(number), UInt32(otherNumber), offset))
        }
        return matches
    }

    private mutating func copy(
        _ matches: [Match], of other: any PieceSource, _ ranges: PieceRanges, progress: (UInt64) -> Void
    ) async throws(VaultError) {
        let writer = PieceWriter(pack: packFile, ranges: ranges, copies: copies)
        try await runInOrder(
            matches,
            // An estimate: a piece that compresses well takes more.
            memory: { 4 * ranges[Int($0.number)].count },
            work: { (match: Match) throws(VaultError) -> [Int] in
                let number = Int(match.number)
                let range = match.offset..<(match.offset + UInt64(ranges[number].count))
                guard let bytes = try? other.ciphertext(ofPiece: Int(match.other), at: range),
                    bytes.count == range.count
                else { return [] }
                let written = try writer.write(bytes.span, as: number)
                other.noteVerification(of: range, isSound: !written.isEmpty)
                return written
            },
            deliver: { numbers in
                guard !numbers.isEmpty else { return }
                notePresent(numbers, ranges)
                noteWritten(numbers, ranges)
                #if DEBUG
                    FailPoint.reach("pieceReused")
                #endif
                progress(presentLength)
            })
    }
}
