import SealedPack
import VaultBytes
import VaultContent
import VaultCrypto
import VaultErrors

/// Collects the records of a catalog while a pack is sealed: 40 bytes a piece, 16 bytes and the path an entry.
struct CatalogBuilder {
    private(set) var pieceCount: UInt32 = 0
    private(set) var entryCount: UInt32 = 0
    private var pieces: [UInt8] = []
    private var entries: [UInt8] = []
    private var paths: [UInt8] = []
    private var piecesEnd: UInt64 = 0
    private var entriesEnd: UInt64 = 0

    /// Bytes of all files together.
    var contentLength: UInt64 { entriesEnd }

    mutating func appendPiece(count: Int, digest: SHA256Digest) throws(VaultError) {
        guard pieceCount < FormatLimits.maximumPieces else {
            throw Self.tooLarge("it would need more than 2^21 pieces")
        }
        pieceCount += 1
        piecesEnd += UInt64(count)
        pieces.appendBigEndian(piecesEnd)
        digest.append(to: &pieces)
        try checkSize()
    }

    /// Entries come in the order of their paths' bytes.
    mutating func appendEntry(_ path: EntryPath, kind: PackEntryKind, size: UInt64) throws(VaultError) {
        let (end, overflow) = entriesEnd.addingReportingOverflow(size)
        guard entryCount < FormatLimits.maximumEntries, !overflow else {
            throw Self.tooLarge("it has more than 2^22 entries")
        }
        paths += path.utf8Bytes
        entryCount += 1
        entriesEnd = end
        entries.appendBigEndian(UInt32(truncatingIfNeeded: paths.count))
        entries += [kind.rawValue, 0, 0, 0]
        entries.appendBigEndian(entriesEnd)
        try checkSize()
    }

    /// Assumes the longest pack ID.
    private func checkSize() throws(VaultError) {
        let count =
            CatalogFormat.fixedLength + PackID.maximumLength + pieces.count + entries.count + paths.count
        guard count <= FormatLimits.maximumCatalogLength else {
            throw Self.tooLarge("the list of its files and pieces would take more than 64 MiB")
        }
    }

    /// The catalog's bytes, table by table to avoid a second copy.
    func parts(id: PackID, version: UInt64, indexDigest: SHA256Digest) -> [[UInt8]] {
        var head: [UInt8] = []
        indexDigest.append(to: &head)
        head.appendBigEndian(version)
        head.appendBigEndian(UInt16(id.description.utf8.count))
        head.appendBigEndian(UInt16(0))
        head.appendBigEndian(pieceCount)
        head.appendBigEndian(entryCount)
        head.appendBigEndian(UInt32(paths.count))
        head += id.description.utf8
        return [head, pieces, entries, paths]
    }

    /// Whether `catalog` describes the same files in the same pieces.
    func hasSameContent(as catalog: Catalog) -> Bool {
        catalog.tables.elementsEqual([pieces, entries, paths].joined())
    }

    private static func tooLarge(_ problem: String) -> VaultError {
        VaultError(.usage, problem, at: "source", remedy: "split it into several packs")
    }
}
