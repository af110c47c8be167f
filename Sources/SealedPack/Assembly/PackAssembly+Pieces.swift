import SystemPackage
import VaultConcurrency
import VaultCrypto
import VaultErrors
import VaultFileSystem

extension PackAssembly {
    /// Verifies the pieces that an earlier attempt may have written, several at once.
    mutating func findVerifiedPieces(_ ranges: PieceRanges) async throws(VaultError) {
        var candidates: [Int] = []
        for data in try file.dataRanges(in: PackLayout.piecesOffset..<ranges.end) {
            var number = ranges.first(endingAfter: data.lowerBound)
            // A piece without its first byte is missing.
            if ranges[number].lowerBound < data.lowerBound { number += 1 }
            while number < ranges.count, ranges[number].upperBound <= data.upperBound {
                candidates.append(number)
                number += 1
            }
        }
        let packFile = packFile
        var found: [Int] = []
        try await runInOrder(
            candidates, memory: { ranges[$0].count },
            work: { number throws(VaultError) -> Int? in
                let range = ranges[number]
                // An unreadable piece is missing.
                guard let bytes = try? packFile.file.readExactly(range.count, at: range.lowerBound) else {
                    return nil
                }
                return try SHA256.hash(bytes.span) == packFile.digest(ofPiece: number) ? number : nil
            },
            deliver: { number in
                // Shows that the attempt is alive while many pieces are verified.
                packFile.file.touch()
                if let number { found.append(number) }
            })
        notePresent(found, ranges)
    }

    /// Copies pieces that equal a present one; the others are copied when theirs is received.
    mutating func makeCopies(_ ranges: PieceRanges) throws(VaultError) {
        let copies = try DuplicatePieces(in: packFile)
        // First to the first pieces, then from these to all other copies.
        for pair in copies.pairs { try copy(Int(pair.copy), to: Int(pair.first), ranges) }
        for pair in copies.pairs { try copy(Int(pair.first), to: Int(pair.copy), ranges) }
        states.excludeCopies(copies)
        self.copies = copies
    }

    private mutating func copy(_ source: Int, to target: Int, _ ranges: PieceRanges) throws(VaultError) {
        guard states.isPresent(source), !states.isPresent(target) else { return }
        let bytes = try file.readExactly(ranges[source].count, at: ranges[source].lowerBound)
        try file.write(bytes.span, at: ranges[target].lowerBound)
        notePresent([target], ranges)
    }

    /// Marks pieces as present and adds their lengths.
    mutating func notePresent(_ numbers: [Int], _ ranges: PieceRanges) {
        for number in numbers where !states.isPresent(number) {
            states.notePresent(number)
            presentLength += UInt64(ranges[number].count)
        }
    }
}
