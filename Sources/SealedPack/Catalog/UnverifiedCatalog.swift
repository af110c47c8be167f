import VaultBytes
import VaultContent
import VaultCrypto
import VaultErrors

/// A decrypted catalog whose statements nobody has checked yet. That it decrypted proves only that its
/// maker held the content key.
struct UnverifiedCatalog {
    private let bytes: [UInt8]
    private let place: String

    let indexDigest: SHA256Digest
    let version: UInt64
    let id: PackID
    let pieceCount: UInt32
    private let entryCount: UInt32
    private let pathCount: Int
    private let idCount: Int

    init(parsing bytes: [UInt8], place: String) throws(VaultError) {
        self.bytes = bytes
        self.place = place
        let span = bytes.span
        guard bytes.count >= CatalogFormat.fixedCount,
            let digest = SHA256Digest(span.extracting(0..<32)),
            let version = span.bigEndian(UInt64.self, at: 32), version <= FormatLimits.maximumVersion,
            let idCount = span.bigEndian(UInt16.self, at: 40),
            span.bigEndian(UInt16.self, at: 42) == 0,
            let pieceCount = span.bigEndian(UInt32.self, at: 44), pieceCount <= FormatLimits.maximumPieces,
            let entryCount = span.bigEndian(UInt32.self, at: 48), entryCount <= FormatLimits.maximumEntries,
            let pathCount = span.bigEndian(UInt32.self, at: 52),
            bytes.count == CatalogFormat.fixedCount + Int(idCount) + Int(pieceCount)
                * CatalogFormat.pieceRecordCount
                + Int(entryCount) * CatalogFormat.entryRecordCount + Int(pathCount),
            let text = String(
                validating: bytes[CatalogFormat.fixedCount..<(CatalogFormat.fixedCount + Int(idCount))],
                as: UTF8.self),
            let id = try? PackID(text)
        else { throw Self.refusal("its tables do not fit together", at: place) }
        indexDigest = digest
        self.version = version
        self.id = id
        self.pieceCount = pieceCount
        self.entryCount = entryCount
        self.pathCount = Int(pathCount)
        self.idCount = Int(idCount)
    }

    /// Checks every record, and that the catalog belongs to `layout` and `indexDigest`. Throws `.corrupt`.
    func verified(pieceCount: UInt32, indexDigest: SHA256Digest) throws(VaultError) -> Catalog {
        guard self.pieceCount == pieceCount, self.indexDigest == indexDigest else {
            throw Self.refusal("it belongs to other pieces", at: place)
        }
        let piecesOffset = CatalogFormat.fixedCount + idCount
        let entriesOffset = piecesOffset + Int(pieceCount) * CatalogFormat.pieceRecordCount
        let pathsOffset = entriesOffset + Int(entryCount) * CatalogFormat.entryRecordCount
        let contentCount = try checkedPieces(at: piecesOffset)
        try checkEntries(at: entriesOffset, contentCount: contentCount)
        let catalog = Catalog(
            bytes: bytes, pieceCount: Int(pieceCount), entryCount: Int(entryCount),
            contentCount: contentCount,
            piecesOffset: piecesOffset, entriesOffset: entriesOffset, pathsOffset: pathsOffset)
        try checkPaths(of: catalog)
        return catalog
    }

    /// Every piece holds 1 byte to 16 MiB. Returns where the last one ends.
    private func checkedPieces(at offset: Int) throws(VaultError) -> UInt64 {
        var previous: UInt64 = 0
        for index in 0..<Int(pieceCount) {
            guard
                let end = bytes.span.bigEndian(
                    UInt64.self, at: offset + index * CatalogFormat.pieceRecordCount),
                end > previous, end - previous <= UInt64(FormatLimits.maximumPieceCount)
            else { throw Self.refusal("piece \(index) has an impossible length", at: place) }
            previous = end
        }
        return previous
    }

    /// Ends never fall, the last ones are the tables' ends, and only files have bytes.
    private func checkEntries(at offset: Int, contentCount: UInt64) throws(VaultError) {
        var pathEnd: UInt32 = 0
        var contentEnd: UInt64 = 0
        for index in 0..<Int(entryCount) {
            let record = offset + index * CatalogFormat.entryRecordCount
            guard let path = bytes.span.bigEndian(UInt32.self, at: record), path > pathEnd,
                Int(path) <= pathCount,
                bytes[record + 5] == 0, bytes[record + 6] == 0, bytes[record + 7] == 0,
                let content = bytes.span.bigEndian(UInt64.self, at: record + 8), content >= contentEnd,
                bytes[record + 4] != PackEntryKind.emptyFolder.rawValue || content == contentEnd
            else { throw Self.refusal("entry \(index) is damaged", at: place) }
            guard PackEntryKind(rawValue: bytes[record + 4]) != nil else {
                throw .unknownFormat(
                    "the pack has an entry of kind \(bytes[record + 4]), which is unknown", at: place)
            }
            pathEnd = path
            contentEnd = content
        }
        guard Int(pathEnd) == pathCount, contentEnd == contentCount else {
            throw Self.refusal("its files and its pieces differ in size", at: place)
        }
    }

    /// Paths are allowed ones, rise strictly, and no entry lies below another one.
    private func checkPaths(of catalog: Catalog) throws(VaultError) {
        let bytes = bytes.span
        var previous = bytes.extracting(0..<0)
        for index in 0..<catalog.entryCount {
            let current = bytes.extracting(catalog.pathRange(index))
            let common = previous.commonPrefixLength(with: current)
            do throws(VaultError) { try EntryPath.check(current, known: common) } catch {
                throw VaultError(
                    .corrupt, "the catalog holds a forbidden path: \(error.problem)", at: place,
                    remedy: "do not use this pack")
            }
            guard common < current.count, common == previous.count || previous[common] < current[common]
            else {
                throw Self.refusal("its paths are not in order", at: place)
            }
            // A folder shared with the entry before was checked there.
            for slash in common..<current.count
            where current[slash] == UInt8(ascii: "/") {
                let folder = current.extracting(0..<slash)
                if let found = catalog.firstIndex(notBefore: folder),
                    bytes.extracting(catalog.pathRange(found)).equals(folder)
                {
                    throw Self.refusal("an entry lies below another entry", at: place)
                }
            }
            previous = current
        }
    }

    private static func refusal(_ problem: String, at place: String) -> VaultError {
        VaultError(
            .corrupt, "the catalog is damaged: \(problem)", at: place,
            remedy: "do not use this pack; repair it, or fetch it again")
    }
}
