public import SystemPackage
public import VaultBase
import VaultCrypto
public import VaultFileSystem

/// An opened pack's folder as a source of pieces: its files are sealed again to give the pieces of the pack it came from,
/// except for changed files and for pieces that this release of libzstd compresses differently.
public struct OpenedTreePieces: PieceSource {
    /// The tail file: it has no pieces, only the index and the catalog that list them.
    public let pack: PackFile
    let root: FilePath
    let catalog: Catalog
    private let key: ContentKey
    /// How the pack was compressed; nil if unknown.
    private let compression: Compression?

    /// - Parameters:
    ///   - root: the folder.
    ///   - tailFile: the pack's file with holes where the pieces were, as ``PackFile/writeTailFile(to:)`` writes it.
    /// - Throws: `.corrupt` when index or catalog do not match the pack's footer, `.key` for another pack's key.
    public init(_ root: FilePath, openedFrom tailFile: PackFile, key: ContentKey) throws(VaultError) {
        catalog = try OpenPack(tailFile, key: key).catalog
        pack = tailFile
        self.root = root
        self.key = key
        compression = try OpenedTreePieces(root, tailFile, catalog, key, compression: nil).findCompression()
    }

    private init(
        _ root: FilePath, _ pack: PackFile, _ catalog: Catalog, _ key: ContentKey, compression: Compression?
    ) {
        (self.root, self.pack, self.catalog, self.key) = (root, pack, catalog, key)
        self.compression = compression
    }

    public func has(piece number: Int, at range: Range<UInt64>) -> Bool {
        compression != nil || isUncompressed(number, at: range)
    }

    /// Throws `.corrupt` where the files have changed.
    public func ciphertext(ofPiece number: Int, at range: Range<UInt64>) throws(VaultError) -> [UInt8] {
        let plain = try plaintext(ofPiece: number)
        return try ciphertext(
            of: plain, as: number,
            isUncompressed(number, at: range) ? .uncompressed : compression ?? .standard)
    }

    private func ciphertext(of plain: [UInt8], as number: Int, _ compression: Compression) throws(VaultError)
        -> [UInt8]
    {
        let digest = try requireUnchanged(plain, as: number)
        return try PieceSealer(key: key, compression: compression, previous: nil)
            .ciphertext(of: plain, digest: digest)
    }

    /// Throws `.corrupt` where a piece's plaintext differs from the catalog.
    ///
    /// - Returns: the digest of the plaintext.
    private func requireUnchanged(_ plain: [UInt8], as number: Int) throws(VaultError) -> SHA256Digest {
        let digest = SHA256.hash(plain.span)
        guard digest.bytes.elementsEqual(catalog.digestBytes(number)) else {
            throw VaultError(
                .corrupt, "the files of piece \(number) have changed", at: root.string,
                remedy: "repair the pack")
        }
        return digest
    }

    /// The plaintext of a piece from the files. Throws `.corrupt` if they have changed.
    func verifiedPlaintext(ofPiece number: Int) throws(VaultError) -> [UInt8] {
        let plain = try plaintext(ofPiece: number)
        _ = try requireUnchanged(plain, as: number)
        return plain
    }

    /// The ciphertext's length shows whether the piece was compressed: a message is one byte for the codec, and the data.
    private func isUncompressed(_ number: Int, at range: Range<UInt64>) -> Bool {
        let piece = catalog.pieceRange(number)
        return Cobblestone256.sealedLength(ofMessage: UInt64(piece.count) + 1) == UInt64(range.count)
    }

    /// Packs do not state their compression: tries each level on a compressed piece whose files are unchanged.
    private func findCompression() throws(VaultError) -> Compression? {
        var found: Compression?
        var tries = 0
        try pack.forEachIndexRecord { number, record, offset throws(VaultError) in
            let range = offset..<(offset + UInt64(record.ciphertextLength))
            guard found == nil, tries < Self.maximumAttempts, !isUncompressed(number, at: range),
                let plain = try? plaintext(ofPiece: number)
            else { return }
            tries += 1
            found = Compression.levels.first { compression in
                let bytes = try? ciphertext(of: plain, as: number, compression)
                return bytes.map { SHA256.hash($0.span) } == record.digest
            }
        }
        return found
    }

    /// Pieces to try, as their files may have changed.
    private static let maximumAttempts = 8

    private func plaintext(ofPiece number: Int) throws(VaultError) -> [UInt8] {
        let range = catalog.pieceRange(number)
        var plain: [UInt8] = []
        plain.reserveCapacity(range.count)
        var index = catalog.firstEntry(endingAfter: range.lowerBound)
        while UInt64(plain.count) < UInt64(range.count), let entry = catalog.entry(index) {
            index += 1
            let part = range.clamped(to: entry.content)
            guard !part.isEmpty else { continue }
            let file = try OpenFile(reading: root.appending(entry.path.string))
            plain += try file.readExactly(part.count, at: part.lowerBound - entry.content.lowerBound)
        }
        return plain
    }
}

extension PackFile {
    /// Writes the tail file that ``OpenedTreePieces`` needs: a file of the pack's length with its header, index, catalog and
    /// footer, and holes instead of the pieces. Throws `.io`.
    public func writeTailFile(to target: borrowing OpenFile) throws(VaultError) {
        try target.truncate(to: length)
        try target.write(header.bytes.span, at: 0)
        try file.forEachBlock(of: footer.layout.indexOffset..<length) { block, offset throws(VaultError) in
            try target.write(block, at: offset)
        }
    }
}

extension Catalog {
    /// The first entry whose content ends after `position`, by binary search.
    fileprivate func firstEntry(endingAfter position: UInt64) -> Int {
        (0..<entryCount).partitionPoint { entryEnd($0) > position }
    }
}

extension OpenedTreePieces {
    /// Verifies every byte of the tree by the pack's catalog: nothing is missing, changed or added, and no other user
    /// may change it. Throws `.corrupt` at the first difference, and the errors of reading.
    ///
    /// - Parameter progress: called with the bytes that were verified.
    public func requireSound(progress: (UInt64) -> Void = { _ in }) async throws(VaultError) {
        var comparison = try TreeComparison(with: root)
        for index in 0..<catalog.entryCount {
            // A verified catalog has no such entry, but the check must not skip one.
            guard let entry = catalog.entry(index) else {
                throw VaultError(
                    .corrupt, "entry \(index) of the catalog can't be read", at: pack.place,
                    remedy: "fetch the pack again")
            }
            try comparison.beginEntry(entry)
            comparison.skipContent()
        }
        try comparison.finish()
        var done: UInt64 = 0
        try await runInOrder(
            0..<catalog.pieceCount, memory: { 2 * catalog.pieceRange($0).count },
            work: { (number: Int) throws(VaultError) in UInt64(try verifiedPlaintext(ofPiece: number).count)
            },
            deliver: { (count: UInt64) in
                done += count
                progress(done)
            })
    }
}
