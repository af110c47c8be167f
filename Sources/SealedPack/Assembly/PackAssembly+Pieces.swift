import SystemPackage
import VaultConcurrency
import VaultCrypto
import VaultErrors
import VaultFileSystem

extension PackAssembly {
    /// Looks at the pieces that an earlier attempt may have left, several at once.
    mutating func survey(_ places: PiecePlaces) async throws(VaultError) {
        var candidates: [Int] = []
        for data in try file.dataRanges(in: PackLayout.piecesOffset..<places.end) {
            var number = places.first(endingAfter: data.lowerBound)
            // A piece whose first byte is missing is missing.
            if places[number].lowerBound < data.lowerBound { number += 1 }
            while number < places.count, places[number].upperBound <= data.upperBound {
                candidates.append(number)
                number += 1
            }
        }
        let packFile = packFile
        var next = 0
        var found: [Int] = []
        try await runInOrder(
            next: { () throws(VaultError) -> Supply<Int> in
                guard next < candidates.count else { return .end }
                defer { next += 1 }
                return .input(candidates[next])
            },
            memory: { places[$0].count },
            work: { number throws(VaultError) -> Int? in
                let place = places[number]
                // What the disk gives back no more is missing.
                guard let bytes = try? packFile.file.readExactly(place.count, at: place.lowerBound) else {
                    return nil
                }
                return try SHA256.hash(bytes.span) == packFile.digest(ofPiece: number) ? number : nil
            },
            deliver: { number in
                // A long look at many pieces is no standstill.
                packFile.file.touch()
                if let number { found.append(number) }
            })
        notePresent(found, places)
    }

    /// Pieces that equal one that is there are copied now, the others when theirs is there.
    mutating func makeCopies(_ places: PiecePlaces) throws(VaultError) {
        let copies = try DuplicatePieces(in: packFile)
        // First to the first pieces of their kind, then from these to all others.
        for pair in copies.pairs { try copy(Int(pair.copy), to: Int(pair.first), places) }
        for pair in copies.pairs { try copy(Int(pair.first), to: Int(pair.copy), places) }
        states.leaveOut(copies)
        self.copies = copies
    }

    private mutating func copy(_ source: Int, to target: Int, _ places: PiecePlaces) throws(VaultError) {
        guard states.isPresent(source), !states.isPresent(target) else { return }
        let bytes = try file.readExactly(places[source].count, at: places[source].lowerBound)
        try file.write(bytes.span, at: places[target].lowerBound)
        notePresent([target], places)
    }

    /// Counts pieces that were found, or written.
    mutating func notePresent(_ numbers: [Int], _ places: PiecePlaces) {
        for number in numbers where !states.isPresent(number) {
            states.notePresent(number)
            presentCount += UInt64(places[number].count)
        }
    }
}
