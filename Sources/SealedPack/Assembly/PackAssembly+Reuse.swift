public import VaultBase

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
        guard let writer, states.missingCount > 0 else { return }
        let wanted = try PiecesByDigest(of: packFile, where: states.isMissing)
        while states.missingCount > 0, let other = try next() {
            try await copy(findPieces(wanted, in: other), of: other, by: writer, progress: progress)
        }
    }

    /// A missing piece, and its offset in another pack.
    private typealias Match = (number: UInt32, offset: UInt64)

    /// The missing pieces that are in another pack's index.
    private func findPieces(_ wanted: PiecesByDigest, in other: any PieceSource) -> [Match] {
        var matches: [Match] = []
        var isFound = [Bool](repeating: false, count: states.count)
        matches.reserveCapacity(min(Int(other.pack.pieceCount), states.missingCount))
        wanted.forEachMatch(in: other.pack) { number, range in
            guard states.isMissing(number), !isFound[number], other.has(pieceAt: range) else { return }
            isFound[number] = true
            matches.append((UInt32(number), range.lowerBound))
        }
        return matches
    }

    private mutating func copy(
        _ matches: [Match], of other: any PieceSource, by writer: PieceWriter, progress: (UInt64) -> Void
    ) async throws(VaultError) {
        try await runInOrder(
            matches,
            // An estimate: a piece that compresses well takes more.
            memory: { 4 * writer.ranges[Int($0.number)].count },
            work: { (match: Match) throws(VaultError) -> [Int] in
                let number = Int(match.number)
                let range = match.offset..<(match.offset + UInt64(writer.ranges[number].count))
                // It may have been given up since it was found.
                guard other.has(pieceAt: range), let bytes = try? other.pack.pieceBytes(in: range),
                    bytes.count == range.count
                else { return [] }
                let written = try writer.write(bytes.span, as: number)
                other.noteVerification(of: range, isSound: !written.isEmpty)
                return written
            },
            deliver: { numbers in
                guard !numbers.isEmpty else { return }
                noteWritten(numbers, by: writer, at: "pieceReused", progress: progress)
            })
    }
}

extension PackAssembly {
    /// Leaves out the missing pieces that the index of another pack lists, whose file need not have them: a tree that it was opened into
    /// has their content. Does nothing before the tail is verified. Memory: 16 bytes a piece.
    public mutating func leaveOut(piecesOf other: PackFile) throws(VaultError) {
        guard let copies = writer?.copies, states.missingCount > 0 else { return }
        let wanted = try PiecesByDigest(of: packFile, where: states.isMissing)
        var isElsewhere = [Bool](repeating: false, count: states.count)
        wanted.forEachMatch(in: other) { number, _ in
            for piece in [number] + copies.copies(of: number) { isElsewhere[piece] = true }
        }
        leaveOut { isElsewhere[$0] }
    }
}

/// A source that may have pieces of another pack, according to an unverified index.
public protocol PieceSource: Sendable {
    /// The pack whose index lists the pieces.
    var pack: PackFile { get }

    /// Whether it may have one of its pieces, without reading it.
    ///
    /// - Parameter range: the piece's bytes in its pack, by its index.
    func has(pieceAt range: Range<UInt64>) -> Bool

    /// Whether one of its pieces had the right digest when it was read; of several tasks.
    func noteVerification(of range: Range<UInt64>, isSound: Bool)
}

extension PieceSource {
    public func noteVerification(of range: Range<UInt64>, isSound: Bool) {}
}

/// A sealed pack contains the ciphertext of its pieces.
extension PackFile: PieceSource {
    public var pack: PackFile { self }

    public func has(pieceAt range: Range<UInt64>) -> Bool { true }
}
