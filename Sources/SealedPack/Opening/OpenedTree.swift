public import SystemPackage
public import VaultBase
import VaultCrypto
public import VaultFileSystem

/// The folder that a pack was opened into. Its files are verified by the pack's catalog.
public struct OpenedTree: Sendable {
    let root: FilePath
    let catalog: Catalog
    /// Whether nothing has changed since the tree was written, so that its files need not be read to be known.
    let isUnchanged: Bool
    private let place: String

    /// - Parameters:
    ///   - root: the folder.
    ///   - tailFile: the pack's file with holes where the pieces were, as ``PackFile/writeTailFile(to:)`` writes it.
    ///   - isUnchanged: whether the caller knows by their sizes and times that the files have not changed since they were written.
    /// - Throws: `.corrupt` when index or catalog do not match the pack's footer, `.key` for another pack's key.
    public init(_ root: FilePath, openedFrom tailFile: PackFile, key: ContentKey, isUnchanged: Bool)
        throws(VaultError)
    {
        let catalog = try OpenPack(tailFile, key: key).catalog
        self.init(root, of: catalog, isUnchanged: isUnchanged, at: tailFile.place)
    }

    /// - Parameter place: the pack's name in errors.
    init(_ root: FilePath, of catalog: Catalog, isUnchanged: Bool, at place: String) {
        (self.root, self.catalog, self.isUnchanged, self.place) = (root, catalog, isUnchanged, place)
    }

    /// A folder that `pack` was opened into, or is being opened into: whether it was is verified by every use.
    public init(_ root: FilePath, of pack: OpenPack) {
        self.init(root, of: pack.catalog, isUnchanged: false, at: pack.id.description)
    }

    /// The plaintext of a piece from the files. Throws `.corrupt` where it differs from the catalog, and the errors of reading.
    package func plaintext(ofPiece number: Int) throws(VaultError) -> [UInt8] {
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
        guard SHA256.hash(plain.span).bytes.elementsEqual(catalog.digestBytes(number)) else {
            throw VaultError(
                .corrupt, "the files of piece \(number) have changed", at: root.string,
                remedy: "repair the pack")
        }
        return plain
    }

    /// Verifies every byte of the tree: nothing is missing, changed or added, and no other user may change it. Throws `.corrupt`
    /// at the first difference, and the errors of reading.
    ///
    /// - Parameter progress: called with the bytes that were verified.
    public func requireSound(progress: (UInt64) -> Void = { _ in }) async throws(VaultError) {
        var comparison = try TreeComparison(with: root)
        for index in 0..<catalog.entryCount {
            // A verified catalog has no such entry, but the check must not skip one.
            guard let entry = catalog.entry(index) else {
                throw VaultError(
                    .corrupt, "entry \(index) of the catalog can't be read", at: place,
                    remedy: "fetch the pack again")
            }
            try comparison.compare(entry)
        }
        try comparison.finish()
        var done: UInt64 = 0
        try await runInOrder(
            0..<catalog.pieceCount, memory: { 2 * catalog.pieceRange($0).count },
            work: { (number: Int) throws(VaultError) in UInt64(try plaintext(ofPiece: number).count) },
            deliver: { (count: UInt64) in
                done += count
                progress(done)
            })
    }
}

extension PackFile {
    /// Writes the tail file that ``OpenedTree`` needs: a file of the pack's length with its header, index, catalog and
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
    func firstEntry(endingAfter position: UInt64) -> Int {
        (0..<entryCount).partitionPoint { entryEnd($0) > position }
    }
}
