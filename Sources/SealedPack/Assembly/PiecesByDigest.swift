import VaultBytes
import VaultCrypto
import VaultErrors
import VaultFileSystem

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
                            remedy: "do not use this pack; tell its publisher")
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
