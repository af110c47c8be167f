import VaultBase
import VaultCrypto
import VaultFileSystem

/// Values by the first bytes of digests. It only says where to look: the digests themselves are compared as a whole.
struct PrefixTable<Value: Comparable & Sendable>: Sendable {
    typealias Entry = (prefix: UInt64, value: Value)

    /// Sorted.
    let entries: [Entry]

    init(_ entries: consuming [Entry]) {
        entries.sort { ($0.prefix, $0.value) < ($1.prefix, $1.value) }
        self.entries = entries
    }

    /// Ascending.
    subscript(prefix: UInt64) -> some Sequence<Value> {
        let first = entries.indices.partitionPoint { entries[$0].prefix >= prefix }
        return entries[first...].lazy.prefix { $0.prefix == prefix }.map(\.value)
    }
}

/// Finds pieces of a pack with a verified index by the digest of their ciphertext: 16 bytes a piece.
struct PiecesByDigest: Sendable {
    private let pack: PackFile
    private let table: PrefixTable<UInt32>

    /// - Parameter isWanted: whether the piece of this number is to be found.
    init(of pack: PackFile, where isWanted: (Int) -> Bool) throws(VaultError) {
        var entries: [PrefixTable<UInt32>.Entry] = []
        entries.reserveCapacity((0..<Int(pack.pieceCount)).count(where: isWanted))
        try pack.forEachIndexRecord { number, record, _ in
            if isWanted(number) { entries.append((record.digest.prefix, UInt32(number))) }
        }
        table = PrefixTable(entries)
        self.pack = pack
    }

    /// The first piece with this digest.
    func first(with digest: SHA256Digest) throws(VaultError) -> Int? {
        for number in table[digest.prefix] where try pack.digest(ofPiece: Int(number)) == digest {
            return Int(number)
        }
        return nil
    }

    /// The pieces that the index of another pack lists, and where they are there. A damaged index counts up to the damage: whoever uses
    /// a piece verifies it.
    func forEachMatch(in other: PackFile, _ body: (_ number: Int, _ range: Range<UInt64>) -> Void) {
        try? other.forEachIndexRecord { _, record, offset throws(VaultError) in
            guard let number = try first(with: record.digest) else { return }
            body(number, offset..<(offset + UInt64(record.ciphertextLength)))
        }
    }

    /// Crafted collisions of the first 8 bytes would make the search quadratic; more than these never occur by chance.
    private static let maximumPrefixCollisions = 8

    /// Pieces that equal an earlier one, sorted by the first piece. Throws `.corrupt` for an index with crafted prefix
    /// collisions, or with one digest for pieces of different lengths.
    func copies() throws(VaultError) -> [DuplicatePieces.Pair] {
        var found: [DuplicatePieces.Pair] = []
        let entries = table.entries
        var start = 0
        while start < entries.count {
            var end = start + 1
            while end < entries.count, entries[end].prefix == entries[start].prefix { end += 1 }
            if end - start > 1 {
                var distinct: [(record: IndexRecord, first: UInt32)] = []
                for entry in entries[start..<end] {
                    let record = try pack.indexRecord(ofPiece: Int(entry.value))
                    if let equal = distinct.first(where: { $0.record == record }) {
                        found.append((equal.first, entry.value))
                        continue
                    }
                    let isPossible = !distinct.contains { $0.record.digest == record.digest }
                    distinct.append((record, entry.value))
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

    static let none = DuplicatePieces(pairs: [])

    init(in pack: PackFile) throws(VaultError) {
        self.init(pairs: try PiecesByDigest(of: pack) { _ in true }.copies())
    }

    private init(pairs: [Pair]) { self.pairs = pairs }

    /// The copies of a first piece.
    func copies(of number: Int) -> [Int] {
        let first = pairs.indices.partitionPoint { pairs[$0].first >= number }
        return pairs[first...].prefix { $0.first == number }.map { Int($0.copy) }
    }
}
