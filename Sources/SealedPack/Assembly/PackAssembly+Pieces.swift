import SystemPackage
import VaultCrypto
public import VaultErrors
import VaultFileSystem

extension PackAssembly {
    /// So many wrong pieces in a row, and the sender has some other file.
    private static var tolerance: Int { 3 }

    /// Takes bytes that stand at `offset` in the pack, as they arrive. A piece counts, and is written, once all of it
    /// is there with its digest; what is there already is passed over.
    ///
    /// - Returns: how many pieces turned out wrong: they stay missing.
    /// - Throws: `.corrupt` after several wrong pieces in a row, `.io`.
    public mutating func take(_ bytes: Span<UInt8>, at offset: UInt64) throws(VaultError) -> Int {
        guard let pieceEnds else {
            // Header and footer are known: no host is believed about them.
            let part = (offset..<(offset + UInt64(bytes.count))).clamped(
                to: PackLayout.piecesOffset..<tail.upperBound)
            guard !part.isEmpty else { return 0 }
            let first = Int(part.lowerBound - offset)
            try file.write(bytes.extracting(first..<(first + part.count)), at: part.lowerBound)
            noteUnproven(endingAt: part.upperBound)
            return 0
        }
        var wrong = 0
        var position = max(offset, PackLayout.piecesOffset)
        let end = min(offset + UInt64(bytes.count), pieceEnds.last ?? 0)
        guard position < end else { return 0 }
        var number = firstPiece(endingAfter: position, in: pieceEnds)
        while position < end {
            let piece = range(ofPiece: number)
            let part = position..<min(piece.upperBound, end)
            if !isPresent[number] {
                let first = Int(part.lowerBound - offset)
                add(bytes.extracting(first..<(first + part.count)), at: part.lowerBound, to: number)
                if arriving.number == number, arriving.bytes.count == piece.count,
                    try !settle(number)
                {
                    wrong += 1
                }
            }
            position = part.upperBound
            number += 1
        }
        return wrong
    }

    /// Looks at the pieces that an earlier attempt may have left, several at once.
    mutating func surveyPieces() async throws(VaultError) {
        guard let pieceEnds, let last = pieceEnds.last else { return }
        var candidates: [Int] = []
        for data in try file.dataRanges(in: PackLayout.piecesOffset..<last) {
            var number = firstPiece(endingAfter: data.lowerBound, in: pieceEnds)
            // A piece whose first byte is missing is missing.
            if range(ofPiece: number).lowerBound < data.lowerBound { number += 1 }
            while number < pieceEnds.count, range(ofPiece: number).upperBound <= data.upperBound {
                candidates.append(number)
                number += 1
            }
        }
        let packFile = packFile
        var next = 0
        var found: [Int] = []
        try await runInOrder(
            next: { () throws(VaultError) -> Int? in
                guard next < candidates.count else { return nil }
                defer { next += 1 }
                return candidates[next]
            },
            memory: { Int(Self.range(ofPiece: $0, in: pieceEnds).count) },
            work: { number throws(VaultError) -> Int? in
                let range = Self.range(ofPiece: number, in: pieceEnds)
                let bytes = try packFile.file.readExactly(range.count, at: range.lowerBound)
                return try SHA256.hash(bytes.span) == packFile.digest(ofPiece: number) ? number : nil
            },
            deliver: { number in
                if let number { found.append(number) }
            })
        for number in found {
            isPresent[number] = true
            presentCount += UInt64(range(ofPiece: number).count)
        }
    }

    func range(ofPiece number: Int) -> Range<UInt64> {
        Self.range(ofPiece: number, in: pieceEnds ?? [])
    }

    private static func range(ofPiece number: Int, in ends: [UInt64]) -> Range<UInt64> {
        guard ends.indices.contains(number) else { return 0..<0 }
        return (number == 0 ? PackLayout.piecesOffset : ends[number - 1])..<ends[number]
    }

    private func firstPiece(endingAfter position: UInt64, in ends: [UInt64]) -> Int {
        var low = 0
        var high = ends.count
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] > position { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Bytes of a piece whose first bytes never came are of no use.
    private mutating func add(_ bytes: Span<UInt8>, at position: UInt64, to number: Int) {
        let start = range(ofPiece: number).lowerBound
        if position == start {
            arriving.number = number
            arriving.bytes.removeAll(keepingCapacity: true)
        }
        guard arriving.number == number, UInt64(arriving.bytes.count) == position - start else { return }
        arriving.bytes.append(copying: bytes)
    }

    /// Ends the piece that was arriving: true when it is what the index says.
    private mutating func settle(_ number: Int) throws(VaultError) -> Bool {
        let bytes = arriving.bytes
        arriving.number = -1
        guard try SHA256.hash(bytes.span) == packFile.digest(ofPiece: number) else {
            wrongInARow += 1
            guard wrongInARow < Self.tolerance else {
                wrongInARow = 0
                throw VaultError(
                    .corrupt, "\(Self.tolerance) pieces in a row have the wrong digest",
                    at: pack.id.description, remedy: "try another mirror or tell the publisher")
            }
            return false
        }
        wrongInARow = 0
        try file.write(bytes.span, at: range(ofPiece: number).lowerBound)
        isPresent[number] = true
        presentCount += UInt64(bytes.count)
        #if DEBUG
            FailPoint.reach("pieceWritten")
        #endif
        return true
    }
}

extension PackFile {
    /// What the index says of a piece; the index must have been proven.
    fileprivate func digest(ofPiece number: Int) throws(VaultError) -> Digest {
        let place = footer.layout.indexOffset + UInt64(number) * UInt64(IndexRecord.count)
        let bytes = try file.readExactly(IndexRecord.count, at: place)
        return try IndexRecord(parsing: bytes.span, place: file.path.string).digest
    }
}
