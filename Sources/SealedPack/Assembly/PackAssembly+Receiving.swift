import VaultConcurrency
public import VaultErrors
import VaultFileSystem

extension PackAssembly {
    /// After so many wrong pieces in a row the sender is assumed to have another file.
    private static var maximumWrongPieces: Int { 3 }
    /// Pieces that are hashed and written while more are received.
    private static var concurrency: Int { 4 }
    /// Bytes of these pieces; a larger piece is processed alone.
    private static var memoryBudget: Int { 4 << 20 }

    /// Receives consecutive bytes of the pack, starting at `offset`. A piece is written once it is complete and
    /// verified; present pieces are skipped. Pieces are hashed and written on all cores while more are received.
    ///
    /// - Parameters:
    ///   - bytes: the input. When reading it fails, the pieces before are still written.
    ///   - check: checks a chunk before it is used; an error from it ends this like a read error.
    ///   - progress: called with ``presentLength`` for each verified piece, even while the sender is silent.
    /// - Returns: the number of wrong pieces, which stay missing.
    /// - Throws: `.corrupt` after several wrong pieces in a row, `.io`, and the errors of reading and of `check`.
    public mutating func receive(
        at offset: UInt64, from bytes: IncomingBytes, check: ([UInt8]) throws(VaultError) -> Void = { _ in },
        progress: (UInt64) -> Void
    ) async throws(VaultError) -> Int {
        guard let ranges else {
            var position = offset
            while let chunk = try await bytes.next() {
                try check(chunk)
                try receiveUnverified(chunk.span, at: position)
                position += UInt64(chunk.count)
                progress(presentLength)
            }
            return 0
        }
        return try await receivePieces(ranges, at: offset, from: bytes, check: check, progress: progress)
    }

    /// Writes bytes before the index is verified; they are verified afterwards. Skips header and footer, which follow
    /// from the manifest. Throws `.io`.
    public mutating func receiveUnverified(_ bytes: Span<UInt8>, at offset: UInt64) throws(VaultError) {
        let part = (offset..<(offset + UInt64(bytes.count))).clamped(
            to: PackLayout.piecesOffset..<tail.upperBound)
        guard !part.isEmpty else { return }
        let first = Int(part.lowerBound - offset)
        try file.write(bytes.extracting(first..<(first + part.count)), at: part.lowerBound)
        noteUnverified(endingAt: part.upperBound)
    }

    private mutating func receivePieces(
        _ ranges: PieceRanges, at offset: UInt64, from bytes: IncomingBytes,
        check: ([UInt8]) throws(VaultError) -> Void, progress: (UInt64) -> Void
    ) async throws(VaultError) -> Int {
        let writer = PieceWriter(pack: packFile, ranges: ranges, copies: copies)
        var cutter = IncomingPieceCutter(incoming, at: offset, ranges)
        defer { incoming = cutter.incoming }
        var failure: VaultError?
        var wrong = 0
        do throws(VaultError) {
            try await runInOrder(
                width: Self.concurrency, budget: Self.memoryBudget, read: { await bytes.readMore() },
                next: { () throws(VaultError) -> NextInput<IncomingPiece.Complete> in
                    while true {
                        if let piece = cutter.next(where: { !states.isPresent($0) }) { return .input(piece) }
                        guard let read = bytes.take() else { return .readFirst }
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
                work: { piece throws(VaultError) -> (hasSeveralSenders: Bool, written: [Int]) in
                    (piece.hasSeveralSenders, try writer.write(piece.bytes.span, as: piece.number))
                },
                deliver: { piece throws(VaultError) in
                    if !piece.written.isEmpty {
                        wrongInARow = 0
                        notePresent(piece.written, ranges)
                        noteWritten(piece.written, ranges)
                        #if DEBUG
                            FailPoint.reach("pieceWritten")
                        #endif
                        progress(presentLength)
                    } else if !piece.hasSeveralSenders {
                        // Of several senders, the one at fault is unknown.
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
        guard wrongInARow < Self.maximumWrongPieces else {
            wrongInARow = 0
            throw VaultError(
                .corrupt, "\(Self.maximumWrongPieces) pieces in a row have the wrong digest",
                at: pack.id.description, remedy: "try another mirror or tell the publisher")
        }
    }
}
