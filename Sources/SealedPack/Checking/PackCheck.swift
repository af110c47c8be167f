public import VaultCrypto
public import VaultErrors
import VaultFileSystem

/// What a check without any key has found in a pack: every byte belongs to a part, and every part has its digest.
public struct PackCheck: Sendable {
    /// SHA-256 of the whole file as it is.
    public let sha256: Digest
    /// The numbers of the pieces that do not have their digest.
    public let damagedPieces: [Int]
    /// Whether the catalog's ciphertext has its digest.
    public let isCatalogSound: Bool
}

extension PackFile {
    /// Reads the whole pack once: pieces are hashed in parallel, the file as a whole while they pass. Throws
    /// `.corrupt` when the index itself is not sound, so that nothing can be said about pieces.
    public func check(progress: (UInt64) -> Void = { _ in }) async throws(VaultError) -> PackCheck {
        var records: [(count: Int, digest: Digest)] = []
        records.reserveCapacity(Int(pieceCount))
        try forEachIndexRecord { _, record, _ in records.append((Int(record.ciphertextCount), record.digest))
        }
        var damaged: [Int] = []
        var whole = SHA256()
        whole.update(header.bytes.span)
        var number = 0
        var offset = PackLayout.piecesOffset
        var checked = 0
        try await runInOrder(
            next: { () throws(VaultError) -> (bytes: [UInt8], digest: Digest)? in
                guard number < records.count else { return nil }
                let bytes = try file.readExactly(records[number].count, at: offset)
                offset += UInt64(bytes.count)
                whole.update(bytes.span)
                defer { number += 1 }
                return (bytes, records[number].digest)
            },
            memory: { $0.bytes.count },
            work: { (piece: (bytes: [UInt8], digest: Digest)) in SHA256.hash(piece.bytes.span) == piece.digest
            },
            deliver: { (isSound: Bool) in
                if !isSound { damaged.append(checked) }
                checked += 1
                progress(offset)
            })
        let catalogDigest = try hashTail(into: &whole)
        return PackCheck(
            sha256: whole.finalize(), damagedPieces: damaged,
            isCatalogSound: catalogDigest == footer.catalogDigest)
    }

    /// Hashes index, catalog and footer into `whole`, and the catalog by itself.
    private func hashTail(into whole: inout SHA256) throws(VaultError) -> Digest {
        var catalog = SHA256()
        var position = footer.layout.indexOffset
        while position < length {
            let isCatalog = position >= footer.layout.catalogOffset && position < footer.layout.footerOffset
            let end =
                position < footer.layout.catalogOffset
                ? footer.layout.catalogOffset : isCatalog ? footer.layout.footerOffset : length
            let block = try file.readExactly(Int(min(1 << 20, end - position)), at: position)
            whole.update(block.span)
            if isCatalog { catalog.update(block.span) }
            position += UInt64(block.count)
        }
        return catalog.finalize()
    }
}
