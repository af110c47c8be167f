import VaultBytes
import VaultContent
import VaultCrypto
import VaultErrors

/// A decrypted catalog whose records are not verified: its author had the content key, but may be hostile.
struct UnverifiedCatalog {
    private let bytes: [UInt8]
    private let place: String

    let indexDigest: SHA256Digest
    let version: UInt64
    let id: PackID
    let pieceCount: UInt32
    private let entryCount: UInt32
    private let pathLength: Int
    private let idLength: Int

    init(parsing bytes: [UInt8], place: String) throws(VaultError) {
        self.bytes = bytes
        self.place = place
        let span = bytes.span
        guard bytes.count >= CatalogFormat.fixedLength,
            let digest = SHA256Digest(span.extracting(0..<32)),
            let version = span.bigEndian(UInt64.self, at: 32), version <= FormatLimits.maximumVersion,
            let idLength = span.bigEndian(UInt16.self, at: 40),
            span.bigEndian(UInt16.self, at: 42) == 0,
            let pieceCount = span.bigEndian(UInt32.self, at: 44), pieceCount <= FormatLimits.maximumPieces,
            let entryCount = span.bigEndian(UInt32.self, at: 48), entryCount <= FormatLimits.maximumEntries,
            let pathLength = span.bigEndian(UInt32.self, at: 52),
            bytes.count == CatalogFormat.fixedLength + Int(idLength) + Int(pieceCount)
                * CatalogFormat.pieceRecordLength
                + Int(entryCount) * CatalogFormat.entryRecordLength + Int(pathLength),
            let text = String(
                validating: bytes[CatalogFormat.fixedLength..<(CatalogFormat.fixedLength + Int(idLength))],
                as: UTF8.self),
            let id = try? PackID(text)
        else { throw Self.refusal("its tables do not fit together", at: place) }
        indexDigest = digest
        self.version = version
        self.id = id
        self.pieceCount = pieceCount
        self.entryCount = entryCount
        self.pathLength = Int(pathLength)
        self.idLength = Int(idLength)
    }

    /// Verifies every record, and that the catalog belongs to the pieces of `indexDigest`. Throws `.corrupt`.
    func verified(pieceCount: UInt32, indexDigest: SHA256Digest) throws(VaultError) -> Catalog {
        guard self.pieceCount == pieceCount, self.indexDigest == indexDigest else {
            throw Self.refusal("it belongs to other pieces", at: place)
        }
        let piecesOffset = CatalogFormat.fixedLength + idLength
        let entriesOffset = piecesOffset + Int(pieceCount) * CatalogFormat.pieceRecordLength
        let pathsOffset = entriesOffset + Int(entryCount) * CatalogFormat.entryRecordLength
        let contentLength = try checkedPieces(at: piecesOffset)
        try checkEntries(at: entriesOffset, contentLength: contentLength)
        let catalog = Catalog(
            bytes: bytes, pieceCount: Int(pieceCount), entryCount: Int(entryCount),
            contentLength: contentLength,
            piecesOffset: piecesOffset, entriesOffset: entriesOffset, pathsOffset: pathsOffset)
        try checkPaths(of: catalog)
        return catalog
    }

    /// Every piece has 1 byte to 16 MiB. Returns the end of the last one.
    private func checkedPieces(at offset: Int) throws(VaultError) -> UInt64 {
        var previous: UInt64 = 0
        for index in 0..<Int(pieceCount) {
            guard
                let end = bytes.span.bigEndian(
                    UInt64.self, at: offset + index * CatalogFormat.pieceRecordLength),
                end > previous, end - previous <= UInt64(FormatLimits.maximumPieceLength)
            else { throw Self.refusal("piece \(index) has an impossible length", at: place) }
            previous = end
        }
        return previous
    }

    /// Ends never decrease, the last ones are the tables' ends, and only files have bytes.
    private func checkEntries(at offset: Int, contentLength: UInt64) throws(VaultError) {
        var pathEnd: UInt32 = 0
        var contentEnd: UInt64 = 0
        for index in 0..<Int(entryCount) {
            let record = offset + index * CatalogFormat.entryRecordLength
            guard let path = bytes.span.bigEndian(UInt32.self, at: record), path > pathEnd,
                Int(path) <= pathLength,
                bytes[record + 5] == 0, bytes[record + 6] == 0, bytes[record + 7] == 0,
                let content = bytes.span.bigEndian(UInt64.self, at: record + 8), content >= contentEnd,
                bytes[record + 4] != PackEntryKind.emptyFolder.rawValue || content == contentEnd
            else { throw Self.refusal("entry \(index) is damaged", at: place) }
            guard PackEntryKind(rawValue: bytes[record + 4]) != nil else {
                throw .unsupportedFormat(
                    "the pack has an entry of kind \(bytes[record + 4]), which is unknown", at: place)
            }
            pathEnd = path
            contentEnd = content
        }
        guard Int(pathEnd) == pathLength, contentEnd == contentLength else {
            throw Self.refusal("its files and its pieces differ in size", at: place)
        }
    }

    /// Paths are allowed, strictly ascending, and no entry is inside another one.
    private func checkPaths(of catalog: Catalog) throws(VaultError) {
        let bytes = bytes.span
        var previous = bytes.extracting(0..<0)
        for index in 0..<catalog.entryCount {
            let current = bytes.extracting(catalog.pathRange(index))
            let common = previous.commonPrefixLength(with: current)
            do throws(VaultError) { try EntryPath.check(current, checkedPrefix: common) } catch {
                throw VaultError(
                    .corrupt, "the catalog contains a forbidden path: \(error.problem)", at: place,
                    remedy: "do not use this pack")
            }
            guard common < current.count, common == previous.count || previous[common] < current[common]
            else {
                throw Self.refusal("its paths are not in order", at: place)
            }
            // Folders shared with the previous entry are already checked.
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
