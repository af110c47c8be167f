import SealedPack
import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// Writes a pack front to back, so that the output may be a pipe: header, pieces, index, catalog, footer.
struct PackWriter: ~Copyable {
    private let output: OpenFileReference
    private let key: ContentKey
    private var packDigest = SHA256()
    private var index: [UInt8] = []
    private var written: UInt64 = 0
    private var writeBehind = WriteBehind()
    var catalog = CatalogBuilder()
    private(set) var reusedPieces: UInt32 = 0
    private(set) var repeatedPieces: UInt32 = 0
    private(set) var missedPieces: [Int] = []

    init(to output: OpenFileReference, key: ContentKey) throws(VaultError) {
        self.output = output
        self.key = key
        try write(PackHeader(contentKeyID: key.id).bytes.span)
    }

    mutating func append(_ piece: SealedPiece) throws(VaultError) {
        try catalog.appendPiece(count: piece.plainLength, digest: piece.plainDigest)
        IndexRecord(ciphertextLength: UInt32(piece.ciphertext.count), digest: piece.digest).append(to: &index)
        if piece.isReused { reusedPieces += 1 }
        if piece.isRepeated { repeatedPieces += 1 }
        if let missed = piece.missed { missedPieces.append(missed) }
        try write(piece.ciphertext.span)
    }

    /// Whether the pieces and the catalog's tables are those of `other`, byte for byte.
    func hasSameContent(as other: OpenPack) -> Bool {
        catalog.hasSameContent(as: other.catalog) && SHA256.hash(index.span) == other.pack.footer.indexDigest
    }

    /// Writes the parts after the pieces and returns the manifest.
    ///
    /// - Parameters:
    ///   - first: the entries that clients download before the others, in this order.
    ///   - same: the same version of the same pack, whose catalog is reused, as another release of libzstd may
    ///     compress it differently.
    consuming func finish(
        id: PackID, version: UInt64, offer: PackOffer, slots: [KeySlot], first: [Int],
        repeating same: OpenPack?
    ) throws(VaultError) -> PackManifest {
        let index = index
        let indexDigest = SHA256.hash(index.span)
        try write(index.span)
        let beforeCatalog = written
        let catalogDigest =
            if let same { try copyCatalog(of: same.pack) } else {
                try writeCatalog(id: id, version: version, indexDigest: indexDigest)
            }
        let layout = try PackLayout(
            packLength: written + UInt64(PackFooter.length), pieceCount: catalog.pieceCount,
            catalogLength: written - beforeCatalog, place: output.file.path.string)
        let footer = PackFooter(layout: layout, indexDigest: indexDigest, catalogDigest: catalogDigest)
        try write(footer.bytes.span)
        return PackManifest(
            of: footer, sha256: packDigest.finalize(), id: id, version: version, contentKeyID: key.id,
            entryCount: catalog.entryCount, openedSize: catalog.contentLength, offer: offer, slots: slots,
            first: firstPieces(of: first))
    }

    /// The pieces of some entries, as far as there is room for them. Of equal pieces the first one counts: clients copy the others.
    private func firstPieces(of entries: [Int]) -> FirstPieces {
        var wanted: [Int] = []
        var known: Set<Int> = []
        for entry in entries {
            for piece in catalog.pieces(ofEntry: entry) where known.insert(piece).inserted {
                wanted.append(piece)
            }
        }
        var equal: [ArraySlice<UInt8>: Int] = [:]
        for piece in wanted { equal[indexRecord(piece)] = piece }
        if !wanted.isEmpty {
            for piece in (0..<Int(catalog.pieceCount)).reversed() where equal[indexRecord(piece)] != nil {
                equal[indexRecord(piece)] = piece
            }
        }
        var first = FirstPieces()
        known.removeAll()
        for piece in wanted {
            let piece = equal[indexRecord(piece)] ?? piece
            guard known.insert(piece).inserted else { continue }
            guard first.add(piece, bridging: shortGap(before: piece)) else { break }
        }
        return first
    }

    /// The bytes between two pieces that cost less than a request of their own: 10 ms at 100 Mbit/s.
    private static let bridgedBytes = 128 << 10

    /// The number of pieces before a piece that are rather sent than left out.
    private func shortGap(before piece: Int) -> Int {
        var (count, bytes) = (0, 0)
        while count < piece {
            let length = indexRecord(piece - count - 1).span.bigEndian(UInt32.self, at: 0)
            bytes += Int(length ?? .max)
            if bytes > Self.bridgedBytes { break }
            count += 1
        }
        return count
    }

    private func indexRecord(_ piece: Int) -> ArraySlice<UInt8> {
        index[(piece * IndexRecord.length)..<((piece + 1) * IndexRecord.length)]
    }

    private mutating func copyCatalog(of pack: PackFile) throws(VaultError) -> SHA256Digest {
        let layout = pack.footer.layout
        var digest = SHA256()
        try pack.file.forEachBlock(of: layout.catalogOffset..<layout.footerOffset) {
            block, _ throws(VaultError) in
            digest.update(block)
            try write(block)
        }
        guard digest.finalize() == pack.footer.catalogDigest else { throw sourceChanged(pack.place) }
        return pack.footer.catalogDigest
    }

    /// Returns the digest of the catalog's ciphertext.
    private mutating func writeCatalog(id: PackID, version: UInt64, indexDigest: SHA256Digest)
        throws(VaultError)
        -> SHA256Digest
    {
        let context = CatalogMessage.context(header: PackHeader(contentKeyID: key.id))
        let message = try CatalogMessage.make(
            of: catalog.parts(id: id, version: version, indexDigest: indexDigest))
        let salt = MessageSalt.make(
            context: context, codec: message[0], dataDigest: SHA256.hash(message.span.extracting(1...)),
            key: key)
        var sealer = try Cobblestone256.Sealer(salt: salt, context: context, key: key.catalogKey)
        var digest = SHA256()
        var sealed = sealer.header
        var position = 0
        while position < message.count {
            let end = min(message.count, position + (1 << 20))
            try sealer.update(message.span.extracting(position..<end), appendingTo: &sealed)
            digest.update(sealed.span)
            try write(sealed.span)
            sealed.removeAll(keepingCapacity: true)
            position = end
        }
        sealer.finish(appendingTo: &sealed)
        digest.update(sealed.span)
        try write(sealed.span)
        return digest.finalize()
    }

    private mutating func write(_ bytes: Span<UInt8>) throws(VaultError) {
        packDigest.update(bytes)
        try output.file.writeNext(bytes)
        let end = written + UInt64(bytes.count)
        writeBehind.note(written..<end, in: output.file)
        written = end
    }
}

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

    /// The numbers of the pieces with bytes of an entry.
    func pieces(ofEntry number: Int) -> Range<Int> {
        let (start, end) = (entryEnd(number - 1), entryEnd(number))
        guard start < end else { return 0..<0 }
        return piece(containing: start)..<(piece(containing: end - 1) + 1)
    }

    private func piece(containing offset: UInt64) -> Int {
        (0..<Int(pieceCount)).partitionPoint { number in
            pieces.span.bigEndian(UInt64.self, at: number * CatalogFormat.pieceRecordLength) ?? 0 > offset
        }
    }

    private func entryEnd(_ number: Int) -> UInt64 {
        entries.span.bigEndian(UInt64.self, at: number * CatalogFormat.entryRecordLength + 8) ?? 0
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
