import SystemPackage
public import VaultBase
import VaultCrypto
public import VaultFileSystem

/// A pack that is assembled from bytes in any order, over any number of attempts.
///
/// Its file has the pack's full length from the start, with holes where bytes are missing. All of it is verified:
/// header and footer follow from the manifest, the tail (index and catalog) has signed digests, and each piece has its
/// digest in the index. So an attempt resumes from the file of an earlier one, and a damaged piece counts as missing.
/// Duplicate pieces are copied. Memory: 9 bytes a piece, 8 for each copy, and a few incoming pieces.
public struct PackAssembly: ~Copyable, Sendable {
    public let pack: PackManifest
    let packFile: PackFile
    /// Nil until the tail is verified.
    private(set) var writer: PieceWriter?
    /// Which pieces are present and verified.
    var states = PieceStates(count: 0)
    var incoming = IncomingPieces()
    private var writeBehind = WriteBehind()
    /// Consecutive pieces with the wrong digest.
    var wrongInARow = 0
    /// A complete tail with wrong digests is fetched again as a whole.
    private var isTailWrong = false

    /// Bytes that are verified, elsewhere, or in an incomplete tail.
    public internal(set) var presentLength: UInt64 = 0

    /// Whether some pieces are not needed in the file, and not in it.
    public private(set) var isPartial = false

    /// ``presentLength`` with the bytes of the incoming piece.
    public var receivedLength: UInt64 { presentLength + UInt64(incoming.length) }

    /// - Parameter file: new or from an earlier attempt, locked by the caller.
    public init(_ file: OpenFileReference, of pack: PackManifest) throws(VaultError) {
        let packFile = try Self.prepare(file, of: pack)
        self.init(pack: pack, packFile: packFile)
    }

    /// Brings only some pieces into the file of a pack whose tail is verified; none of what is there is read.
    package init(of pieces: Set<Int>, in packFile: PackFile, _ pack: PackManifest) throws(VaultError) {
        self.init(pack: pack, packFile: packFile)
        let writer = try PieceWriter(to: packFile, copies: DuplicatePieces(in: packFile))
        self.writer = writer
        states = PieceStates(count: writer.ranges.count)
        states.excludeCopies(writer.copies)
        leaveOut { !pieces.contains($0) }
    }

    private init(pack: PackManifest, packFile: PackFile) {
        self.pack = pack
        self.packFile = packFile
    }

    /// Sets the file's length and writes its header and footer.
    private static func prepare(_ file: OpenFileReference, of pack: PackManifest) throws(VaultError)
        -> PackFile
    {
        if try file.file.status().size != pack.length { try file.file.truncate(to: 0) }
        try file.file.truncate(to: pack.length)
        try writeFrame(of: pack, to: file.file)
        return try PackFile(file, as: pack)
    }

    private static func writeFrame(of pack: PackManifest, to file: borrowing OpenFile) throws(VaultError) {
        let header = pack.header.bytes
        let footer = try pack.footer(place: file.path.string).bytes
        try file.write(header.span, at: 0)
        try file.write(footer.span, at: pack.length - UInt64(PackFooter.length))
    }

    var file: OpenFile { _read { yield packFile.file } }
    var layout: PackLayout { packFile.footer.layout }
    var tail: Range<UInt64> { layout.tail }

    /// The bytes to request next: missing ones, and present ones between them where another request would cost more.
    /// Nil when the pack is complete.
    public mutating func wanted() throws(VaultError) -> Range<UInt64>? {
        guard let ranges = writer?.ranges else { return try wantedTail() }
        return states.nextRange(ranges).map { incoming.rest(of: $0, ranges) }
    }

    /// All requests for what is missing now; only that for the tail before it is verified.
    public func requests() throws(VaultError) -> Requests {
        guard let ranges = writer?.ranges else { return Requests(tail: try wantedTail()) }
        return Requests(states: states, ranges: ranges, incoming: incoming)
    }

    /// Requests in their order, for a client that makes several before they are answered.
    public struct Requests: Sendable {
        fileprivate var tail: Range<UInt64>?
        fileprivate var states = PieceStates(count: 0)
        fileprivate var ranges: PieceRanges?
        fileprivate var incoming = IncomingPieces()

        public mutating func next() -> Range<UInt64>? {
            guard let ranges else { return tail.take() }
            return states.takeNextRange(ranges).map { incoming.rest(of: $0, ranges) }
        }
    }

    /// The rest of the tail; the whole, if it is complete and not verified.
    private func wantedTail() throws(VaultError) -> Range<UInt64> {
        let start = isTailWrong ? tail.lowerBound : try endOfReceivedTail()
        return (start < tail.upperBound ? start : tail.lowerBound)..<tail.upperBound
    }

    /// Whether the tail is not verified, so that missing pieces are unknown.
    public var isTailUnverified: Bool { writer == nil }

    /// Whether no bytes were received.
    public var isEmpty: Bool { isTailUnverified && presentLength == 0 }

    /// Verifies the tail once it is complete, and then the pieces. False when the tail is wrong, which is then fetched
    /// again as a whole. Throws `.corrupt` for a signed index that is impossible.
    public mutating func verifyTail() async throws(VaultError) -> Bool {
        guard isTailUnverified else { return true }
        let end = try endOfReceivedTail()
        guard end == tail.upperBound else {
            presentLength = end - tail.lowerBound
            return true
        }
        isTailWrong = (try? isTailSound()) != true
        guard !isTailWrong else { return false }
        let writer = try PieceWriter(to: packFile, copies: DuplicatePieces(in: packFile))
        self.writer = writer
        states = PieceStates(count: writer.ranges.count, first: pack.first)
        presentLength = pack.length - (tail.lowerBound - PackLayout.piecesOffset)
        try await findVerifiedPieces(by: writer)
        try makeCopies(by: writer)
        return true
    }

    /// Copies the tail of another file of the pack, which may not have all of it; it is verified. Does nothing once the tail is verified.
    package mutating func takeTail(of other: OpenFileReference) async throws(VaultError) {
        guard isTailUnverified, try other.file.status().size == pack.length else { return }
        let (tail, packFile) = (tail, packFile)
        do throws(VaultError) {
            try other.file.forEachBlock(of: tail) { block, offset throws(VaultError) in
                try packFile.file.write(block, at: offset)
            }
        } catch {
            guard error.category == .io else { throw error }
        }
        _ = try await verifyTail()
    }

    /// Opens the missing pieces into a tree from now on. Does nothing before the tail is verified.
    public mutating func open(into tree: TreeWriter) {
        leaveOut { tree.has(piece: $0) }
        guard states.missingCount > 0 else { return }
        writer?.tree = tree
        isPartial = true
    }

    /// Leaves out the missing pieces that are elsewhere. Does nothing before the tail is verified.
    public mutating func leaveOut(where isElsewhere: (_ piece: Int) -> Bool) {
        guard let writer else { return }
        for number in 0..<states.count where states.isWanted(number) && isElsewhere(number) {
            states.noteElsewhere(number)
            presentLength += UInt64(writer.ranges[number].count)
            isPartial = true
        }
        states.requestCopies(writer.copies)
    }

    /// Notes pieces that are written, and starts writing them back to the disk.
    mutating func noteWritten(
        _ numbers: [Int], by writer: PieceWriter, at failPoint: String, progress: (UInt64) -> Void
    ) {
        notePresent(numbers, writer.ranges)
        if writer.tree == nil {
            for number in numbers { writeBehind.note(writer.ranges[number], in: writer.pack.file) }
        }
        FailPoint.reach(failPoint)
        progress(presentLength)
    }

    /// The incomplete pack.
    public var partial: PackFile { packFile }

    /// Syncs the pack to the disk.
    public consuming func finish() throws(VaultError) -> PackFile {
        try file.synchronize()
        return packFile
    }

    /// The following bytes come from another sender.
    public mutating func changeSender() { incoming.changeSender() }

    /// Counts bytes that can't be verified yet; repeated bytes count once.
    mutating func noteUnverified(endingAt end: UInt64) {
        let isTail = end > tail.lowerBound && presentLength <= UInt64(tail.count)
        let count = isTail ? end - tail.lowerBound : end
        presentLength = max(presentLength, min(count, pack.length))
    }

    /// The tail is received front to back, so it ends at the first hole or where only zeros follow: a file system may
    /// report a hole as data. Digests and ciphertext end in a few zeros at most.
    private func endOfReceivedTail() throws(VaultError) -> UInt64 {
        guard let first = try file.dataRanges(in: tail).first, first.lowerBound == tail.lowerBound else {
            return tail.lowerBound
        }
        var end = first.upperBound
        var block: [UInt8] = []
        while end > tail.lowerBound {
            let start = end - min(1 << 16, end - tail.lowerBound)
            // An unreadable tail is fetched again.
            guard (try? file.read(into: &block, upTo: Int(end - start), at: start)) != nil else {
                return tail.lowerBound
            }
            guard let last = block.lastIndex(where: { $0 != 0 }) else {
                end = start
                continue
            }
            let zeros = block.count - 1 - last
            return zeros < 16 ? end : end - UInt64(zeros)
        }
        return end
    }

    private func isTailSound() throws(VaultError) -> Bool {
        guard try file.sha256(of: layout.catalogOffset..<layout.footerOffset) == pack.catalogDigest else {
            return false
        }
        return try file.sha256(of: layout.indexOffset..<layout.catalogOffset) == pack.indexDigest
    }
}

extension PackFile {
    /// Verifies the pieces that the file has, several at once: those that lie in no hole.
    func verifyWrittenPieces(
        _ ranges: PieceRanges, _ deliver: (_ number: Int, _ isSound: Bool) -> Void
    ) async throws(VaultError) {
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
        try await runInOrder(
            candidates, memory: { ranges[$0].count },
            work: { number throws(VaultError) -> (number: Int, isSound: Bool) in
                let range = ranges[number]
                // An unreadable piece is missing.
                guard let bytes = try? self.file.readExactly(range.count, at: range.lowerBound) else {
                    return (number, false)
                }
                return (number, try self.isPiece(number, bytes.span))
            },
            deliver: { deliver($0.number, $0.isSound) })
    }
}

/// The cheapest requests for the rest of a pack, and their cost.
extension PackAssembly {
    /// Whether one request for the whole pack is cheaper than reading its index first.
    ///
    /// - Parameter hasReusablePacks: whether there are packs to ``reuse(from:progress:)`` pieces of.
    public func prefersSingleRequest(hasReusablePacks: Bool) -> Bool {
        layout.prefersSingleRequest(hasReusablePacks: hasReusablePacks)
    }

    /// The cost of the rest of the pack if the sources have all pieces of their indexes; nil before the tail is
    /// verified.
    ///
    /// - Parameters:
    ///   - next: returns the sources one by one; not called when no piece is missing any more.
    ///   - tailLength: the bytes of the tail that are to be counted.
    public func cost(
        reusing next: () throws(VaultError) -> (any PieceSource)?, countingTail tailLength: UInt64
    ) throws(VaultError) -> UpdateCost? {
        guard let writer else { return nil }
        var states = states
        try states.notePieces(of: packFile, in: next)
        return UpdateCost(layout, states, writer.ranges, tailBytes: tailLength)
    }

    /// The cost of one request for the whole pack.
    public var costOfSingleRequest: UpdateCost { UpdateCost(singleRequest: layout) }
}

extension PackLayout {
    /// A pack up to this size is fetched in one request when there are no packs to reuse.
    private static let smallPack: UInt64 = 256 << 10

    /// Index and catalog.
    var tail: Range<UInt64> { indexOffset..<footerOffset }
    var tailLength: UInt64 { footerOffset - indexOffset }

    /// Whether one request for the whole pack is cheaper than reading its index first.
    ///
    /// - Parameter hasReusablePacks: whether there are packs that may contain some of its pieces.
    func prefersSingleRequest(hasReusablePacks: Bool) -> Bool {
        hasReusablePacks ? packLength - tailLength <= PieceStates.requestCost : packLength <= Self.smallPack
    }
}

extension PackAssembly {
    /// Verifies the pieces that an earlier attempt may have written, several at once.
    private mutating func findVerifiedPieces(by writer: PieceWriter) async throws(VaultError) {
        var found: [Int] = []
        try await writer.pack.verifyWrittenPieces(writer.ranges) { number, isSound in
            // Shows that the attempt is alive while many pieces are verified.
            writer.pack.file.touch()
            if isSound { found.append(number) }
        }
        notePresent(found, writer.ranges)
    }

    /// Copies pieces that equal a present one; the others are copied when theirs is received.
    private mutating func makeCopies(by writer: PieceWriter) throws(VaultError) {
        // First to the first pieces, then from these to all other copies.
        for pair in writer.copies.pairs { try copy(Int(pair.copy), to: Int(pair.first), writer.ranges) }
        for pair in writer.copies.pairs { try copy(Int(pair.first), to: Int(pair.copy), writer.ranges) }
        states.excludeCopies(writer.copies)
    }

    private mutating func copy(_ source: Int, to target: Int, _ ranges: PieceRanges) throws(VaultError) {
        guard states.isPresent(source), !states.isPresent(target) else { return }
        let bytes = try file.readExactly(ranges[source].count, at: ranges[source].lowerBound)
        try file.write(bytes.span, at: ranges[target].lowerBound)
        notePresent([target], ranges)
    }

    /// Marks pieces as present and adds their lengths.
    private mutating func notePresent(_ numbers: [Int], _ ranges: PieceRanges) {
        for number in numbers where states.isWanted(number) {
            states.notePresent(number)
            presentLength += UInt64(ranges[number].count)
        }
    }
}
