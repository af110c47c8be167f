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
        guard let places else {
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
        let end = min(offset + UInt64(bytes.count), places.end)
        guard position < end else { return 0 }
        var number = places.first(endingAfter: position)
        while position < end {
            let piece = places[number]
            let part = position..<min(piece.upperBound, end)
            if !states.isPresent(number) {
                let first = Int(part.lowerBound - offset)
                add(
                    bytes.extracting(first..<(first + part.count)), at: part.lowerBound, to: number, of: piece
                )
                if arriving.number == number, arriving.bytes.count == piece.count,
                    try !settle(number, at: piece)
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
            next: { () throws(VaultError) -> Int? in
                guard next < candidates.count else { return nil }
                defer { next += 1 }
                return candidates[next]
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
                if let number { found.append(number) }
            })
        for number in found { notePresent(number, places) }
    }

    /// Pieces that equal one that is there are copied now, the others when theirs is there.
    mutating func makeCopies(_ places: PiecePlaces) throws(VaultError) {
        let copies = try PieceCopies(in: packFile)
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
        notePresent(target, places)
    }

    mutating func notePresent(_ number: Int, _ places: PiecePlaces) {
        guard !states.isPresent(number) else { return }
        states.notePresent(number)
        presentCount += UInt64(places[number].count)
    }

    /// Bytes of a piece whose first bytes never came are of no use.
    private mutating func add(
        _ bytes: Span<UInt8>, at position: UInt64, to number: Int, of piece: Range<UInt64>
    ) {
        if position == piece.lowerBound {
            isArrivingMixed = false
            arriving.number = number
            arriving.bytes.removeAll(keepingCapacity: true)
        }
        guard arriving.number == number, UInt64(arriving.bytes.count) == position - piece.lowerBound else {
            return
        }
        arriving.bytes.append(copying: bytes)
    }

    /// Ends the piece that was arriving: true when it is what the index says.
    private mutating func settle(_ number: Int, at piece: Range<UInt64>) throws(VaultError) -> Bool {
        let bytes = arriving.bytes
        arriving.number = -1
        guard try SHA256.hash(bytes.span) == packFile.digest(ofPiece: number) else {
            // Nobody knows which of several senders is to blame: the piece is missing still.
            guard !isArrivingMixed else { return true }
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
        guard let places else { return true }
        for same in [number] + (copies?.copies(of: number) ?? []) {
            try file.write(bytes.span, at: places[same].lowerBound)
            notePresent(same, places)
        }
        #if DEBUG
            FailPoint.reach("pieceWritten")
        #endif
        return true
    }
}
