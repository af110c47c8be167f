import VaultConcurrency
public import VaultErrors
import VaultFileSystem

extension PackAssembly {
    /// Takes pieces that are missing from other packs, as far as these have them: a piece counts when its bytes, as they
    /// are read, have the digest of this pack's index. Nothing else is believed of a pack that is damaged, cut short or
    /// changed meanwhile; what it does not give stays missing. Only packs of the same content key have equal pieces.
    ///
    /// Nothing is done before the tail is verified. Memory: 33 bytes a piece, beside the pieces that are being copied.
    ///
    /// - Parameters:
    ///   - next: the others, one after the other, those that promise most first; not asked for more than is needed.
    ///   - progress: called with ``presentCount``.
    /// - Throws: `.io` when this pack can't be written.
    public mutating func reuse(
        from next: () throws(VaultError) -> (any PieceSource)?, progress: (UInt64) -> Void
    ) async throws(VaultError) {
        guard let places, states.missingCount > 0 else { return }
        let wanted = try PiecesByDigest(of: packFile, where: states.isMissing)
        while states.missingCount > 0, let other = try next() {
            try await take(find(wanted, in: other), of: other, places, progress: progress)
        }
    }

    /// A missing piece, and which one of another pack it is.
    private typealias Hit = (number: UInt32, other: UInt32, offset: UInt64)

    /// Where another pack says it has pieces that are missing here.
    private func find(_ wanted: PiecesByDigest, in other: any PieceSource) -> [Hit] {
        var hits: [Hit] = []
        var isFound = [Bool](repeating: false, count: states.count)
        hits.reserveCapacity(min(Int(other.pack.pieceCount), states.missingCount))
        // What was read of an index until it proves damaged is as good as any hint.
        try? other.pack.forEachIndexRecord { otherNumber, record, offset throws(VaultError) in
            guard let number = try wanted.first(with: record.digest), states.isMissing(number),
                !isFound[number],
                other.has(piece: otherNumber, at: offset..<(offset + UInt64(record.ciphertextCount)))
            else { return }
            isFound[number] = true
            hits.append((UInt32(number), UInt32(otherNumber), offset))
        }
        return hits
    }

    private mutating func take(
        _ hits: [Hit], of other: any PieceSource, _ places: PiecePlaces, progress: (UInt64) -> Void
    ) async throws(VaultError) {
        let writer = PieceWriter(pack: packFile, places: places, copies: copies)
        var next = 0
        try await runInOrder(
            next: { () throws(VaultError) -> Supply<Hit> in
                guard next < hits.count else { return .end }
                defer { next += 1 }
                return .input(hits[next])
            },
            // More than this only where a piece compresses well.
            memory: { 4 * places[Int($0.number)].count },
            work: { (hit: Hit) throws(VaultError) -> [Int] in
                let number = Int(hit.number)
                let place = hit.offset..<(hit.offset + UInt64(places[number].count))
                guard let bytes = try? other.ciphertext(ofPiece: Int(hit.other), at: place),
                    bytes.count == place.count
                else { return [] }
                return try writer.write(bytes.span, as: number)
            },
            deliver: { numbers in
                guard !numbers.isEmpty else { return }
                notePresent(numbers, places)
                noteWritten(numbers, places)
                #if DEBUG
                    FailPoint.reach("pieceReused")
                #endif
                progress(presentCount)
            })
    }
}
