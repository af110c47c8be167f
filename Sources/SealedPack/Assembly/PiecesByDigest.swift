import VaultBytes
import VaultCrypto
import VaultErrors
import VaultFileSystem

/// Finds pieces of a pack by the digest of their ciphertext: 16 bytes a piece. Its index must have been verified.
struct PiecesByDigest: Sendable {
    private let pack: PackFile
    /// Sorted by the first bytes of the digest, then by number.
    private let entries: [(prefix: UInt64, number: UInt32)]

    /// - Parameter isWanted: which pieces are to be found, by their numbers.
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

    /// Different digests never share their first 8 bytes; more than so many that do were made to, to keep readers busy.
    private static let mostWithOnePrefix = 8

    /// Pieces that equal an earlier one, with the first of their kind, in the order of these. Throws `.corrupt` for an index
    /// that was made to be slow, or says that pieces of different lengths are equal.
    func copies() throws(VaultError) -> [DuplicatePieces.Pair] {
        var found: [DuplicatePieces.Pair] = []
        var start = 0
        while start < entries.count {
            var end = start + 1
            while end < entries.count, entries[end].prefix == entries[start].prefix { end += 1 }
            if end - start > 1 {
                var kinds: [(record: IndexRecord, first: UInt32)] = []
                for entry in entries[start..<end] {
                    let record = try pack.indexRecord(ofPiece: Int(entry.number))
                    if let kind = kinds.first(where: { $0.record == record }) {
                        found.append((kind.first, entry.number))
                        continue
                    }
                    let isPossible = !kinds.contains { $0.record.digest == record.digest }
                    kinds.append((record, entry.number))
                    guard isPossible, kinds.count <= Self.mostWithOnePrefix else {
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
    /// What the index says of a piece; the index must have been verified.
    func digest(ofPiece number: Int) throws(VaultError) -> SHA256Digest {
        try indexRecord(ofPiece: number).digest
    }

    func indexRecord(ofPiece number: Int) throws(VaultError) -> IndexRecord {
        let offset = footer.layout.indexOffset + UInt64(number) * UInt64(IndexRecord.count)
        let bytes = try file.readExactly(IndexRecord.count, at: offset)
        return try IndexRecord(parsing: bytes.span, place: place)
    }
}
