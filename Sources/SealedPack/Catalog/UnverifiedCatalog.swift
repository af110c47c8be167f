package import VaultBase
import VaultCrypto
import VaultFileSystem

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

/// The catalog as a Cobblestone message, in a context that binds the header: codec 0 and the catalog's bytes, or codec
/// 1, their length as u32, and a zstd frame of them.
package enum CatalogMessage {
    private static let headLength = 5

    package static func context(header: PackHeader) -> [UInt8] {
        Array("assetvault/v1/catalog".utf8) + header.bytes
    }

    /// Makes the message from the parts of a catalog.
    package static func make(of parts: [[UInt8]]) throws(VaultError) -> [UInt8] {
        let count = parts.reduce(0) { $0 + $1.count }
        var message = [PieceCodec.zstd.rawValue]
        message.appendBigEndian(UInt32(truncatingIfNeeded: count))
        if try Zstd.compress(joining: parts, level: 3, appendingTo: &message),
            count <= FormatLimits.maximumCatalogExpansion * (message.count - headLength)
        {
            return message
        }
        message = [PieceCodec.uncompressed.rawValue]
        message.reserveCapacity(1 + count)
        for part in parts { message += part }
        return message
    }

    private static let blockCount = 64 * Cobblestone256.sealedChunkLength

    /// Reads and decrypts the catalog of `pack`. Throws `.corrupt` when its digest is not that of the footer.
    static func open(of pack: PackFile, key: ContentKey) throws(VaultError) -> [UInt8] {
        do throws(VaultError) {
            return try decrypt(pack, key)
        } catch {
            guard error.category == .corrupt, !error.needsNewerRelease else { throw error }
            throw VaultError(
                .corrupt, "the catalog is damaged: \(error.problem)", at: pack.place,
                remedy: "repair the pack, or fetch it again")
        }
    }

    private static func decrypt(_ pack: PackFile, _ key: ContentKey) throws(VaultError) -> [UInt8] {
        func refuse(_ problem: String) -> VaultError {
            VaultError(.corrupt, problem, at: pack.place, remedy: "repair the pack, or fetch it again")
        }
        let layout = pack.footer.layout
        guard let messageLength = Cobblestone256.messageLength(ofSealed: layout.catalogLength),
            messageLength > 0
        else {
            throw refuse("it has an impossible length")
        }
        let head = try pack.file.readExactly(Cobblestone256.headerLength, at: layout.catalogOffset)
        var digest = SHA256()
        digest.update(head.span)
        var opener = try Cobblestone256.Opener(
            header: head.span, context: context(header: pack.header), key: key.catalogKey)
        var message: [UInt8] = []
        message.reserveCapacity(Int(messageLength))
        var position = layout.catalogOffset + UInt64(Cobblestone256.headerLength)
        var block: [UInt8] = []
        var number: UInt64 = 0
        while position < layout.footerOffset {
            let count = Int(min(UInt64(blockCount), layout.footerOffset - position))
            guard try pack.file.read(into: &block, upTo: count, at: position) == count else {
                throw refuse("the pack is cut short")
            }
            digest.update(block.span)
            position += UInt64(count)
            var start = 0
            while start < count {
                let end = min(count, start + Cobblestone256.sealedChunkLength)
                try opener.openChunk(
                    block.span.extracting(start..<end), number: number,
                    isLast: position == layout.footerOffset && end == count, appendingTo: &message)
                number += 1
                start = end
            }
        }
        guard digest.finalize() == pack.footer.catalogDigest else {
            throw refuse("it has the wrong digest")
        }
        let codec = try PieceCodec(ofMessage: message, at: pack.place)
        switch codec {
        case .uncompressed:
            message.removeFirst()
            return message
        case .zstd:
            guard let count = message.span.bigEndian(UInt32.self, at: 1),
                count <= FormatLimits.maximumCatalogLength,
                Int(count) <= FormatLimits.maximumCatalogExpansion * (message.count - headLength)
            else { throw refuse("it states an impossible length") }
            return Array(try codec.decode(message, from: headLength, exactly: Int(count)))
        }
    }
}

/// The catalog's layout, all integers big-endian:
///
///     index SHA-256 32 | pack version u64 | pack ID length u16 | zero u16 | piece count u32 | entry count u32 |
///     path table length u32 | pack ID | piece records | entry records | path table
///
/// "index SHA-256" is the SHA-256 of the pack's index (the piece digests). A piece record is
/// `stream end u64 | SHA-256 of the plaintext 32`; an entry record is `path end u32 | kind u8 | zero 3 | stream end u64`.
/// The stream is all files' bytes one after the other. Each record states where its part *ends*; it begins where the one
/// before it ended, so parts can neither overlap nor leave a gap, and both tables can be searched in place.
package enum CatalogFormat {
    package static let fixedLength = 56
    package static let pieceRecordLength = 40
    package static let entryRecordLength = 16
}
