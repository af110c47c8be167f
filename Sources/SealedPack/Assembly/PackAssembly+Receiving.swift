import Synchronization
public import VaultBase
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
        guard let writer else {
            var position = offset
            while let chunk = try await bytes.next() {
                try check(chunk)
                try receiveUnverified(chunk.span, at: position)
                position += UInt64(chunk.count)
                progress(presentLength)
            }
            return 0
        }
        return try await receivePieces(by: writer, at: offset, from: bytes, check: check, progress: progress)
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
        by writer: PieceWriter, at offset: UInt64, from bytes: IncomingBytes,
        check: ([UInt8]) throws(VaultError) -> Void, progress: (UInt64) -> Void
    ) async throws(VaultError) -> Int {
        incoming.begin(at: offset)
        var failure: VaultError?
        var wrong = 0
        do throws(VaultError) {
            try await runInOrder(
                width: Self.concurrency, budget: Self.memoryBudget, read: { await bytes.readMore() },
                next: { () throws(VaultError) -> NextInput<IncomingPieces.Complete> in
                    while true {
                        if let piece = incoming.next(writer.ranges, where: states.isWanted) {
                            return .input(piece)
                        }
                        guard let read = bytes.take() else { return .readFirst }
                        do throws(VaultError) {
                            guard let chunk = try read.get() else { return .end }
                            try check(chunk)
                            incoming.add(chunk)
                        } catch {
                            failure = error
                            return .end
                        }
                    }
                },
                memory: { writer.tree?.source.openingMemory(ofPiece: $0.number) ?? $0.bytes.count },
                work: { piece throws(VaultError) -> (hasSeveralSenders: Bool, written: [Int]) in
                    (piece.hasSeveralSenders, try writer.write(piece.bytes.span, as: piece.number))
                },
                deliver: { piece throws(VaultError) in
                    if !piece.written.isEmpty {
                        wrongInARow = 0
                        noteWritten(piece.written, by: writer, at: "pieceWritten", progress: progress)
                    } else if !piece.hasSeveralSenders {
                        // If the piece came from several senders, it is unknown which one was wrong.
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
                at: pack.id.description, remedy: "try another mirror or report it to the publisher")
        }
    }
}

/// Bytes from a sender, read one chunk at a time by one task and consumed by another.
public final class IncomingBytes: Sendable {
    public typealias Chunk = @Sendable () async throws(VaultError) -> [UInt8]?

    private let chunk: Chunk
    private let read = Mutex<Result<[UInt8]?, VaultError>?>(nil)

    /// - Parameter chunk: returns the next bytes, nil at the end; never called concurrently.
    public init(_ chunk: @escaping Chunk) { self.chunk = chunk }

    /// Reads a chunk. Calls must not overlap, and ``take()`` must follow each.
    func readMore() async {
        let result = await outcome(of: chunk)
        read.withLock { $0 = result }
    }

    /// The chunk that was read last; nil if it was already taken.
    func take() -> Result<[UInt8]?, VaultError>? {
        read.withLock { read in
            defer { read = nil }
            return read
        }
    }

    func next() async throws(VaultError) -> [UInt8]? {
        await readMore()
        return try take()?.get()
    }
}

/// Cuts the bytes of a sender, from any offset of a pack, into pieces. The next sender may continue in the middle of a piece.
struct IncomingPieces: Sendable {
    /// A complete piece whose digest is not verified.
    struct Complete: Sendable {
        let number: Int
        let bytes: [UInt8]
        /// Whether its bytes came from several senders.
        let hasSeveralSenders: Bool
    }

    /// The piece that is being received, and its first bytes.
    private var number: Int?
    private var bytes: [UInt8] = []
    private var hasSeveralSenders = false
    /// The rest of what the sender sent last, and its offset in the pack.
    private var chunk: ArraySlice<UInt8> = []
    private var position: UInt64 = 0

    /// Bytes received of the current piece.
    var length: Int { bytes.count }

    /// The bytes of consecutive pieces, without those received of the first of them.
    func rest(of pieces: Range<Int>, _ ranges: PieceRanges) -> Range<UInt64> {
        let received = number == pieces.lowerBound ? bytes.count : 0
        let start = ranges[pieces.lowerBound].lowerBound + UInt64(received)
        return start..<ranges[pieces.upperBound - 1].upperBound
    }

    /// The following bytes come from another sender.
    mutating func changeSender() { hasSeveralSenders = true }

    /// The following bytes are those of the pack from `offset`.
    mutating func begin(at offset: UInt64) { (chunk, position) = ([], offset) }

    /// Adds the bytes that follow the previous ones, of which ``next(_:where:)`` has left none.
    mutating func add(_ bytes: [UInt8]) { chunk = bytes[...] }

    /// The next complete piece; nil when more bytes are needed. Skips other parts and unwanted pieces.
    mutating func next(_ ranges: PieceRanges, where isWanted: (Int) -> Bool) -> Complete? {
        drop(before: PackLayout.piecesOffset)
        while !chunk.isEmpty {
            let number = ranges.first(endingAfter: position)
            guard number < ranges.count else { break }
            let piece = ranges[number]
            let part = chunk.prefix(Int(clamping: piece.upperBound - position))
            let whole = isWanted(number) ? add(part, to: number, of: piece) : nil
            drop(before: position + UInt64(part.count))
            if let whole { return whole }
        }
        drop(before: position + UInt64(chunk.count))
        return nil
    }

    /// Bytes of a piece whose start was not received are dropped.
    private mutating func add(_ part: ArraySlice<UInt8>, to number: Int, of piece: Range<UInt64>) -> Complete?
    {
        if position == piece.lowerBound {
            (self.number, hasSeveralSenders) = (number, false)
            bytes.removeAll(keepingCapacity: true)
            bytes.reserveCapacity(piece.count)
        }
        guard self.number == number, UInt64(bytes.count) == position - piece.lowerBound else { return nil }
        bytes += part
        guard bytes.count == piece.count else { return nil }
        defer { (self.number, bytes) = (nil, []) }
        return Complete(number: number, bytes: bytes, hasSeveralSenders: hasSeveralSenders)
    }

    private mutating func drop(before start: UInt64) {
        guard start > position else { return }
        let count = min(Int(clamping: start - position), chunk.count)
        chunk = chunk.dropFirst(count)
        position += UInt64(count)
    }
}

/// Writes verified pieces to a pack's file, or opens them into a tree, several at once.
struct PieceWriter: Sendable {
    let pack: PackFile
    let ranges: PieceRanges
    let copies: DuplicatePieces
    /// Where pieces are opened into, instead of being written to the file.
    var tree: TreeWriter?

    init(to pack: PackFile, copies: DuplicatePieces) throws(VaultError) {
        (self.pack, self.copies) = (pack, copies)
        ranges = try PieceRanges(of: pack)
    }

    /// Writes a piece and its copies if its bytes have the digest of the verified index. Returns the numbers of the
    /// pieces written, none for other bytes. Throws `.io`.
    func write(_ ciphertext: Span<UInt8>, as number: Int) throws(VaultError) -> [Int] {
        guard try pack.isPiece(number, ciphertext) else { return [] }
        let numbers = [number] + copies.copies(of: number)
        guard let tree else {
            for number in numbers { try pack.file.write(ciphertext, at: ranges[number].lowerBound) }
            return numbers
        }
        try tree.open(ciphertext, asPieces: numbers)
        // Other processes see that the download goes on.
        pack.file.touch()
        return numbers
    }
}

/// Receives some pieces of a pack whose index is verified. Each is written once it is complete and verified; all other
/// bytes are dropped.
public struct PieceReceiver: ~Copyable {
    private let writer: PieceWriter
    private let wanted: Set<Int>
    private var incoming = IncomingPieces()
    private var end: UInt64 = 0

    public init(of pieces: [Int], in pack: PackFile) throws(VaultError) {
        writer = try PieceWriter(to: pack, copies: .none)
        wanted = Set(pieces)
    }

    /// Throws `.io`.
    public mutating func receive(_ bytes: [UInt8], at offset: UInt64) throws(VaultError) {
        if offset != end { incoming.begin(at: offset) }
        end = offset + UInt64(bytes.count)
        incoming.add(bytes)
        while let piece = incoming.next(writer.ranges, where: wanted.contains) {
            _ = try writer.write(piece.bytes.span, as: piece.number)
        }
    }
}
