import SystemPackage
package import VaultBase
import VaultFileSystem

/// Versions that rest on earlier ones: what these have need not be in the file of the next one.
extension PackAssembly {
    /// Leaves out the missing pieces that an earlier version has, in its own file or in its bases; they become the bases of this one.
    /// Nothing of them is read. Returns nil and leaves out nothing if no earlier version has a piece, the file system has no holes, or
    /// the bases have too many dead bytes: a file of its own then frees them.
    ///
    /// - Parameter ownName: the name that this pack will have: a file of that name is no base.
    package mutating func rest(on earlier: PackFile, as ownName: String) throws(VaultError) -> PieceBases? {
        guard let writer, states.missingCount > 0, try file.hasHoles else { return nil }
        var search = try BaseSearch(for: packFile, writer.ranges, as: ownName) { states.isMissing($0) }
        try search.look(in: earlier, copies: writer.copies.copies(of:), where: { _, _ in true })
        guard try !search.isDueToConsolidate else { return nil }
        search.keepBest()
        let bases = search.found
        if let bases { leaveOut { bases.places.run(with: writer.ranges[$0]) != nil } }
        return bases
    }
}

extension PackFile {
    /// The same pack, whose file has holes, resting on other files that have those pieces. Nil where a piece is in none of them.
    ///
    /// - Parameters:
    ///   - ownName: the name that this pack will have beside them.
    ///   - written: ``writtenPieces()``.
    ///   - isSound: whether a piece that the index of a file lists is there; called for each that is needed.
    package func resting(
        on files: [PackFile], as ownName: String, having written: [Bool],
        where isSound: (PackFile, Range<UInt64>, _ number: Int) -> Bool = { _, _, _ in true }
    ) throws(VaultError) -> PackFile? {
        let ranges = try PieceRanges(of: self)
        guard written.count == ranges.count else { return nil }
        var search = try BaseSearch(for: self, ranges, as: ownName) { !written[$0] }
        let copies = try DuplicatePieces(in: self)
        for file in files {
            try search.look(in: file, copies: copies.copies(of:), where: { isSound(file, $0, $1) })
        }
        guard search.isComplete(where: { !written[$0] }) else { return nil }
        return PackFile(self, on: search.found)
    }
}

/// Finds pieces of a pack in earlier versions, by their digests. Memory: 16 bytes for each piece that is looked for, and 9 for each
/// piece.
private struct BaseSearch {
    private let ranges: PieceRanges
    private let wanted: PiecesByDigest
    private let length: UInt64
    private let ownName: String
    private var bases: [Base] = []
    /// For each piece the number of its base, or `none`.
    private var numbers: [UInt8]
    private var offsets: [UInt64]

    private static let none = UInt8.max

    private struct Base {
        let file: OpenFileReference
        /// Bytes of the pack that it has.
        var live: UInt64 = 0

        var name: String { file.file.path.lastComponent?.string ?? "" }
    }

    init(
        for pack: PackFile, _ ranges: PieceRanges, as ownName: String, where isWanted: (Int) -> Bool
    ) throws(VaultError) {
        (self.ranges, self.ownName) = (ranges, ownName)
        length = pack.length
        wanted = try PiecesByDigest(of: pack, where: isWanted)
        numbers = Array(repeating: Self.none, count: ranges.count)
        offsets = Array(repeating: 0, count: ranges.count)
    }

    /// - Parameter isSound: whether the piece at a range of the earlier version is the one with this number.
    mutating func look(
        in earlier: PackFile, copies: (Int) -> [Int],
        where isSound: (Range<UInt64>, _ number: Int) -> Bool
    ) throws(VaultError) {
        let first = bases.count
        bases += ([earlier.reference] + (earlier.bases?.files ?? [])).map { Base(file: $0) }
        guard bases.count < Int(Self.none) else { return }
        let written = try earlier.file.dataRanges(in: 0..<earlier.length)
        wanted.forEachMatch(in: earlier) { number, range in
            guard numbers[number] == Self.none, ranges[number].count == range.count else { return }
            let place = earlier.place(of: range)
            guard place != nil || written.cover(range) else { return }
            let base = place.map { first + 1 + $0.base } ?? first
            guard bases[base].name != ownName, isSound(range, number) else { return }
            bases[base].live += UInt64(range.count)
            for piece in [number] + copies(number) {
                numbers[piece] = UInt8(base)
                offsets[piece] = place?.offset ?? range.lowerBound
            }
        }
    }

    func isComplete(where isNeeded: (Int) -> Bool) -> Bool {
        numbers.indices.allSatisfy { numbers[$0] != Self.none || !isNeeded($0) }
    }

    /// Whether the bases have more dead bytes than half the pack.
    var isDueToConsolidate: Bool {
        get throws(VaultError) {
            var dead: UInt64 = 0
            for base in bases where base.live > 0 {
                let size = try base.file.file.dataLength
                dead += size - min(size, base.live)
            }
            return dead > length / 2
        }
    }

    /// Where there are too many bases, eight stay, those with the most live bytes: so the next updates have room. The pieces of the
    /// others are copied.
    mutating func keepBest() {
        let used = bases.indices.filter { bases[$0].live > 0 }
        guard used.count > PiecePlaces.maximumBases else { return }
        let dropped = used.sorted { bases[$0].live > bases[$1].live }.dropFirst(PiecePlaces.maximumBases / 2)
        for base in dropped { bases[base].live = 0 }
        for piece in numbers.indices where dropped.contains(Int(numbers[piece])) {
            numbers[piece] = Self.none
        }
    }

    /// Those that have a piece; nil where none has.
    var found: PieceBases? {
        let used = bases.indices.filter { bases[$0].live > 0 }
        guard !used.isEmpty else { return nil }
        var runs: [PiecePlaces.Run] = []
        for piece in numbers.indices {
            guard let base = used.firstIndex(of: Int(numbers[piece])) else { continue }
            let (range, offset) = (ranges[piece], offsets[piece])
            if let last = runs.last, last.base == base, last.range.upperBound == range.lowerBound,
                last.offset + UInt64(last.range.count) == offset
            {
                runs[runs.count - 1] = PiecePlaces.Run(
                    range: last.range.lowerBound..<range.upperBound, base: base, offset: last.offset)
            } else {
                runs.append(PiecePlaces.Run(range: range, base: base, offset: offset))
            }
        }
        guard runs.count <= PiecePlaces.maximumRuns else { return nil }
        return PieceBases(
            PiecePlaces(bases: used.map { bases[$0].name }, runs: runs), used.map { bases[$0].file })
    }
}
