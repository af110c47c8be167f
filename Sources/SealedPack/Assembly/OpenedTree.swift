public import SystemPackage
import VaultArchive
import VaultCrypto
public import VaultErrors
public import VaultFileSystem

/// A folder that a pack was opened into, with the pack's index and catalog: its pieces are sealed once more, which gives the
/// same bytes again. Needs the content key. Files that were changed since then give nothing.
public struct OpenedTree: PieceSource {
    public let pack: PackFile
    private let root: FilePath
    private let catalog: Catalog
    private let sealer: PieceSealer

    /// - Parameters:
    ///   - root: the folder.
    ///   - tail: what ``PackFile/writeTail(to:)`` has left of the pack.
    /// - Throws: `.corrupt` when index or catalog are not those that the pack's footer names, `.key` for another pack's key.
    public init(_ root: FilePath, openedFrom tail: PackFile, key: ContentKey) throws(VaultError) {
        catalog = try OpenPack(tail, key: key).catalog
        pack = tail
        sealer = PieceSealer(key: key, compression: .standard, previous: nil)
        self.root = root
    }

    /// Throws `.corrupt` where the files have changed.
    public func ciphertext(ofPiece number: Int, at place: Range<UInt64>) throws(VaultError) -> [UInt8] {
        let plain = try plaintext(ofPiece: number)
        let digest = SHA256.hash(plain.span)
        guard digest.bytes.elementsEqual(catalog.digestBytes(number)) else {
            throw VaultError(
                .corrupt, "the files of piece \(number) have changed", at: root.string,
                remedy: "nothing needs to be done")
        }
        // Its length tells whether the piece was worth compressing.
        if Cobblestone256.sealedCount(ofMessage: UInt64(plain.count) + 1) == UInt64(place.count) {
            return try sealer.storedCiphertext(of: plain, digest: digest)
        }
        return try sealer.ciphertext(of: plain, digest: digest)
    }

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
    /// Leaves of the pack what an ``OpenedTree`` needs: a file of the pack's length that has its header, index, catalog and
    /// footer, and holes in the place of the pieces. Throws `.io`.
    public func writeTail(to target: borrowing OpenFile) throws(VaultError) {
        try target.truncate(to: length)
        try target.write(header.bytes.span, at: 0)
        var block: [UInt8] = []
        var position = footer.layout.indexOffset
        while position < length {
            guard try file.read(into: &block, upTo: Int(min(1 << 20, length - position)), at: position) > 0
            else { return }
            try target.write(block.span, at: position)
            position += UInt64(block.count)
        }
    }
}

extension Catalog {
    /// The first entry whose content ends behind `position`, by binary search.
    fileprivate func firstEntry(endingAfter position: UInt64) -> Int {
        (0..<entryCount).partitionPoint { entryEnd($0) > position }
    }
}
