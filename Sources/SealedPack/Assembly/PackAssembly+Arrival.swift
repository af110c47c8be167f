import VaultConcurrency
public import VaultErrors
import VaultFileSystem

/// Bytes as they arrive.
extension PackAssembly {
    /// So many wrong pieces in a row, and the sender has some other file.
    private static var tolerance: Int { 3 }
    /// Pieces that are hashed and written while others arrive.
    private static var width: Int { 4 }
    /// Bytes of them: large pieces come one at a time.
    private static var budget: Int { 4 << 20 }

    /// Takes bytes that stand at `offset` in the pack and follow one another, until there are no more. A piece counts, and
    /// is written, once all of it is there with its digest; what is there already is passed over. Pieces are hashed and
    /// written on all cores while others arrive.
    ///
    /// - Parameters:
    ///   - bytes: what arrives. When reading it fails, what arrived before still counts.
    ///   - check: looks at a chunk before it is taken; what it throws ends this as a failure to read does.
    ///   - progress: called with ``presentCount`` for each verified piece, not only when the next bytes arrive.
    /// - Returns: how many pieces turned out wrong: they stay missing.
    /// - Throws: `.corrupt` after several wrong pieces in a row, `.io`, and what reading and `check` throw.
    public mutating func take(
        at offset: UInt64, from bytes: IncomingBytes, check: ([UInt8]) throws(VaultError) -> Void = { _ in },
        progress: (UInt64) -> Void
    ) async throws(VaultError) -> Int {
        guard let places else {
            var position = offset
            while let chunk = try await bytes.next() {
                try check(chunk)
                try takeUnverified(chunk.span, at: position)
                position += UInt64(chunk.count)
                progress(presentCount)
            }
            return 0
        }
        return try await takePieces(places, at: offset, from: bytes, check: check, progress: progress)
    }

    /// Takes bytes before the index is known: they are written, and believed once it is. No host is believed about header
    /// and footer, which are known. Throws `.io`.
    public mutating func takeUnverified(_ bytes: Span<UInt8>, at offset: UInt64) throws(VaultError) {
        let part = (offset..<(offset + UInt64(bytes.count))).clamped(
            to: PackLayout.piecesOffset..<tail.upperBound)
        guard !part.isEmpty else { return }
        let first = Int(part.lowerBound - offset)
        try file.write(bytes.extracting(first..<(first + part.count)), at: part.lowerBound)
        noteUnverified(endingAt: part.upperBound)
    }

    private mutating func takePieces(
        _ places: PiecePlaces, at offset: UInt64, from bytes: IncomingBytes,
        check: ([UInt8]) throws(VaultError) -> Void, progress: (UInt64) -> Void
    ) async throws(VaultError) -> Int {
        let writer = PieceWriter(pack: packFile, places: places, copies: copies)
        var cutter = IncomingPieceCutter(arriving, at: offset, places)
        defer { arriving = cutter.arriving }
        var failure: VaultError?
        var wrong = 0
        do throws(VaultError) {
            try await runInOrder(
                width: Self.width, budget: Self.budget, read: { await bytes.readMore() },
                next: { () throws(VaultError) -> Supply<IncomingPiece.Whole> in
                    while true {
                        if let piece = cutter.next(where: { !states.isPresent($0) }) { return .input(piece) }
                        guard let read = bytes.take() else { return .later }
                        do throws(VaultError) {
                            guard let chunk = try read.get() else { return .end }
                            try check(chunk)
                            cutter.add(chunk)
                        } catch {
                            failure = error
                            return .end
                        }
                    }
                },
                memory: { $0.bytes.count },
                work: { piece throws(VaultError) -> (isMixed: Bool, written: [Int]) in
                    (piece.isMixed, try writer.write(piece.bytes.span, as: piece.number))
                },
                deliver: { piece throws(VaultError) in
                    if !piece.written.isEmpty {
                        wrongInARow = 0
                        notePresent(piece.written, places)
                        noteWritten(piece.written, places)
                        #if DEBUG
                            FailPoint.reach("pieceWritten")
                        #endif
                        progress(presentCount)
                    } else if !piece.isMixed {
                        // Nobody knows which of several senders would be to blame.
                        wrong += 1
                        try noteWrong()
                    }
                })
        } catch {
            throw failure ?? error
        }
        if let failure { throw failure }
        return wrong
    }

    private mutating func noteWrong() throws(VaultError) {
        wrongInARow += 1
        guard wrongInARow < Self.tolerance else {
            wrongInARow = 0
            throw VaultError(
                .corrupt, "\(Self.tolerance) pieces in a row have the wrong digest",
                at: pack.id.description, remedy: "try another mirror or tell the publisher")
        }
    }
}
