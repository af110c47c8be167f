public import VaultBase
import VaultCrypto
import VaultFileSystem

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
        guard let ranges, states.missingCount > 0 else { return }
        let wanted = try PiecesByDigest(of: packFile, where: states.isMissing)
        while states.missingCount > 0, let other = try next() {
            try await copy(findPieces(wanted, in: other), of: other, ranges, progress: progress)
        }
    }

    /// A missing piece, and its offset in another pack.
    private typealias Match = (number: UInt32, offset: UInt64)

    /// The missing pieces that are in another pack's index.
    private func findPieces(_ wanted: PiecesByDigest, in other: any PieceSource) -> [Match] {
        var matches: [Match] = []
        var isFound = [Bool](repeating: false, count: states.count)
        matches.reserveCapacity(min(Int(other.pack.pieceCount), states.missingCount))
        // Records of a damaged index are still usable, as every piece is verified.
        try? other.pack.forEachIndexRecord { _, record, offset throws(VaultError) in
            guard let number = try wanted.first(with: record.digest), states.isMissing(number),
                !isFound[number],
                other.has(pieceAt: offset..<(offset + UInt64(record.ciphertextLength)))
            else { return }
            isFound[number] = true
            matches.append((UInt32(number), offset))
        }
        return matches
    }

    private mutating func copy(
        _ matches: [Match], of other: any PieceSource, _ ranges: PieceRanges, progress: (UInt64) -> Void
    ) async throws(VaultError) {
        let writer = PieceWriter(pack: packFile, ranges: ranges, copies: copies, tree: tree)
        try await runInOrder(
            matches,
            // An estimate: a piece that compresses well takes more.
            memory: { 4 * ranges[Int($0.number)].count },
            work: { (match: Match) throws(VaultError) -> [Int] in
                let number = Int(match.number)
                let range = match.offset..<(match.offset + UInt64(ranges[number].count))
                guard let bytes = try? other.ciphertext(at: range),
                    bytes.count == range.count
                else { return [] }
                let written = try writer.write(bytes.span, as: number)
                other.noteVerification(of: range, isSound: !written.isEmpty)
                return written
            },
            deliver: { numbers in
                guard !numbers.isEmpty else { return }
                notePresent(numbers, ranges)
                noteWritten(numbers, ranges)
                #if DEBUG
                    FailPoint.reach("pieceReused")
                #endif
                progress(presentLength)
            })
    }
}

extension PackAssembly {
    /// Leaves out the missing pieces that the index of another pack lists, whose file need not have them: a tree that it was opened into
    /// has their content. Does nothing before the tail is verified. Memory: 16 bytes a piece.
    public mutating func leaveOut(piecesOf other: PackFile) throws(VaultError) {
        guard hasMissingPieces else { return }
        let wanted = try PiecesByDigest(of: packFile, where: states.isMissing)
        var isElsewhere = [Bool](repeating: false, count: states.count)
        let copies = copies
        // Records of a damaged index are still usable: what the tree turns out not to have is downloaded later.
        try? other.forEachIndexRecord { _, record, _ throws(VaultError) in
            guard let number = try wanted.first(with: record.digest) else { return }
            isElsewhere[number] = true
            for copy in copies?.copies(of: number) ?? [] { isElsewhere[copy] = true }
        }
        leaveOut { isElsewhere[$0] }
    }
}

extension PieceStates {
    /// Marks pieces as present that are in the indexes of other packs.
    ///
    /// - Parameter next: returns the other packs one by one; not called when no piece is missing any more.
    mutating func notePieces(
        of pack: PackFile, in next: () throws(VaultError) -> (any PieceSource)?
    ) throws(VaultError) {
        guard missingCount > 0 else { return }
        let wanted = try PiecesByDigest(of: pack, where: isMissing)
        while missingCount > 0, let other = try next() {
            try? other.pack.forEachIndexRecord { _, record, offset throws(VaultError) in
                guard other.has(pieceAt: offset..<(offset + UInt64(record.ciphertextLength))) else { return }
                if let number = try wanted.first(with: record.digest) { notePresent(number) }
            }
        }
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

    /// The unverified ciphertext of one of its pieces.
    ///
    /// - Parameter range: the piece's bytes in its pack, by its index.
    func ciphertext(at range: Range<UInt64>) throws(VaultError) -> [UInt8]

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

    public func ciphertext(at range: Range<UInt64>) throws(VaultError) -> [UInt8] {
        try pieceBytes(in: range)
    }
}

/// Finds pieces of a pack with a verified index by the digest of their ciphertext: 16 bytes a piece.
struct PiecesByDigest: Sendable {
    private let pack: PackFile
    /// Sorted by the first bytes of the digest, then by number.
    private let entries: [(prefix: UInt64, number: UInt32)]

    /// - Parameter isWanted: whether the piece of this number is to be found.
    init(of pack: PackFile, where isWanted: (Int) -> Bool) throws(VaultError) {
        var entries: [(prefix: UInt64, number: UInt32)] = []
        entries.reserveCapacity((0..<Int(pack.pieceCount)).count(where: isWanted))
        try pack.forEachIndexRecord { number, record, _ in
            if isWanted(number) { entries.append((record.digest.prefix, UInt32(number))) }
        }
        entries.sort { ($0.prefix, $0.number) < ($1.prefix, $1.number) }
        self.entries = entries
        self.pack = pack
    }

    /// The first piece with this digest.
    func first(with digest: SHA256Digest) throws(VaultError) -> Int? {
        var index = entries.indices.partitionPoint { entries[$0].prefix >= digest.prefix }
        while index < entries.count, entries[index].prefix == digest.prefix {
            let number = Int(entries[index].number)
            if try pack.digest(ofPiece: number) == digest { return number }
            index += 1
        }
        return nil
    }

    /// Crafted collisions of the first 8 bytes would make the search quadratic; more than these never occur by chance.
    private static let maximumPrefixCollisions = 8

    /// Pieces that equal an earlier one, sorted by the first piece. Throws `.corrupt` for an index with crafted prefix
    /// collisions, or with one digest for pieces of different lengths.
    func copies() throws(VaultError) -> [DuplicatePieces.Pair] {
        var found: [DuplicatePieces.Pair] = []
        var start = 0
        while start < entries.count {
            var end = start + 1
            while end < entries.count, entries[end].prefix == entries[start].prefix { end += 1 }
            if end - start > 1 {
                var distinct: [(record: IndexRecord, first: UInt32)] = []
                for entry in entries[start..<end] {
                    let record = try pack.indexRecord(ofPiece: Int(entry.number))
                    if let equal = distinct.first(where: { $0.record == record }) {
                        found.append((equal.first, entry.number))
                        continue
                    }
                    let isPossible = !distinct.contains { $0.record.digest == record.digest }
                    distinct.append((record, entry.number))
                    guard isPossible, distinct.count <= Self.maximumPrefixCollisions else {
                        throw VaultError(
                            .corrupt, "the index has digests that can't be genuine", at: pack.place,
                            remedy: "do not use this pack; report it to its publisher")
                    }
                }
            }
            start = end
        }
        return found.sorted { $0 < $1 }
    }
}

extension PackFile {
    /// The digest of a piece from the verified index.
    func digest(ofPiece number: Int) throws(VaultError) -> SHA256Digest {
        try indexRecord(ofPiece: number).digest
    }

    func indexRecord(ofPiece number: Int) throws(VaultError) -> IndexRecord {
        let offset = footer.layout.indexOffset + UInt64(number) * UInt64(IndexRecord.length)
        let bytes = try file.readExactly(IndexRecord.length, at: offset)
        return try IndexRecord(parsing: bytes.span, place: place)
    }
}

/// The pieces of a pack that equal an earlier piece; they are copied, not requested. 8 bytes a copy.
struct DuplicatePieces: Sendable {
    typealias Pair = (first: UInt32, copy: UInt32)

    /// Sorted by the first piece.
    let pairs: [Pair]

    init(in pack: PackFile) throws(VaultError) {
        pairs = try PiecesByDigest(of: pack) { _ in true }.copies()
    }

    /// The copies of a first piece.
    func copies(of number: Int) -> [Int] {
        let first = pairs.indices.partitionPoint { pairs[$0].first >= number }
        return pairs[first...].prefix { $0.first == number }.map { Int($0.copy) }
    }
}

/// The cost of downloading a pack for a client that has other packs, computed from their indexes by the rule that
/// clients use for their requests.
public struct UpdateCost: Sendable, Hashable {
    /// Bytes of the whole pack.
    public let length: UInt64
    /// Bytes that are sent, including index and catalog, without HTTP headers.
    public let bytes: UInt64
    public let requests: Int
    /// Pieces of the pack, and how many need not be sent: they are present, or equal another piece of the pack.
    public let pieces: Int
    public let reusedPieces: Int

    /// Memory: 33 bytes a piece of the new pack, whatever the sources contain: 8 for its range, 1 for its state, 16 to find it by
    /// its digest, and 8 if it is a copy of another piece.
    ///
    /// - Parameters:
    ///   - pack: only its index is read.
    ///   - sources: packs whose pieces are sound; a damaged index counts up to the damage.
    /// - Throws: `.corrupt` when the index of `pack` is damaged, `.io`.
    public init(of pack: PackFile, reusing sources: [any PieceSource]) throws(VaultError) {
        let layout = pack.footer.layout
        guard !layout.prefersSingleRequest(hasReusablePacks: !sources.isEmpty) else {
            self.init(singleRequest: layout)
            return
        }
        let ranges = try PieceRanges(of: pack)
        var states = PieceStates(count: ranges.count, first: pack.manifest?.first ?? FirstPieces())
        states.excludeCopies(try DuplicatePieces(in: pack))
        var others = sources[...]
        try states.notePieces(of: pack) { others.popFirst() }
        self.init(layout, states, ranges, tailBytes: layout.tailLength)
    }

    /// - Parameter tailBytes: the bytes of index and catalog that are to be sent.
    init(_ layout: PackLayout, _ states: PieceStates, _ ranges: PieceRanges, tailBytes: UInt64) {
        length = layout.packLength
        pieces = states.count
        reusedPieces = states.count - states.missingCount
        var states = states
        var bytes = tailBytes
        var requests = tailBytes > 0 ? 1 : 0
        while let range = states.takeNextRange(ranges) {
            bytes += ranges[range.upperBound - 1].upperBound - ranges[range.lowerBound].lowerBound
            requests += 1
        }
        self.bytes = bytes
        self.requests = requests
    }

    /// One request for the whole pack.
    init(singleRequest layout: PackLayout) {
        length = layout.packLength
        bytes = layout.packLength
        requests = 1
        pieces = Int(layout.pieceCount)
        reusedPieces = 0
    }
}
