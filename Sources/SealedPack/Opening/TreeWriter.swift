import Synchronization
public import VaultBase
public import VaultFileSystem

/// Opens a pack into a folder, piece by piece in any order, from any task, over any number of attempts.
///
/// Uses folder descriptors that follow no link and creates every file, so nothing is written outside. Only verified bytes are written,
/// and nothing is ever written into a file that has another name. Memory: a byte a file and a byte a piece.
public final class TreeWriter: Sendable {
    public let source: OpenPack
    private let basis: TreeBasis?
    private let root: Folder
    private let tree: Mutex<TreeFiles>

    private var catalog: Catalog { source.catalog }

    /// - Parameters:
    ///   - source: of which at least index and catalog are there.
    ///   - root: empty, or left by an earlier attempt to open the same pack; private to the writer.
    ///   - basis: trees of which unchanged files are linked and unchanged pieces are copied.
    /// - Throws: `.unwritable`, `.diskFull`, `.io`.
    public init(
        of source: OpenPack, into root: borrowing Folder, _ modes: TreeModes,
        restingOn basis: TreeBasis? = nil
    ) async throws(VaultError) {
        (self.source, self.basis) = (source, basis)
        self.root = try root.reopened()
        let isNew = try root.names(upTo: 1).names.isEmpty
        var tree = TreeFiles(
            walk: try FolderWalk(below: root.reopened()), modes: modes, pieceCount: source.catalog.pieceCount)
        if isNew { tree.savedCount = 0 }
        if let basis { try tree.link(source.catalog, from: basis) }
        if !isNew { try tree.settleLinks(of: source, in: root.path, besides: basis) }
        self.tree = Mutex(tree)
        if !isNew { try await findWritten() }
    }

    /// Whether a piece need not be written: it is, or all its files are links.
    public func has(piece number: Int) -> Bool {
        guard tree.withLock({ !($0.isWritten.indices.contains(number) && $0.isWritten[number]) }) else {
            return true
        }
        return parts(ofPiece: number).isEmpty
    }

    /// Bytes of the pieces that need not be written any more, and of all.
    public var progress: (done: UInt64, total: UInt64) {
        var done: UInt64 = 0
        for number in 0..<catalog.pieceCount where has(piece: number) {
            done += UInt64(catalog.pieceRange(number).count)
        }
        return (done, catalog.contentLength)
    }

    /// The parts of files that a piece has, without those of links.
    private func parts(ofPiece number: Int) -> [(index: Int, entry: Catalog.Entry, part: Range<UInt64>)] {
        let piece = catalog.pieceRange(number)
        var found: [(index: Int, entry: Catalog.Entry, part: Range<UInt64>)] = []
        var index = catalog.firstEntry(endingAfter: piece.lowerBound)
        let links = tree.withLock { $0.isLinked }
        while let entry = catalog.entry(index), entry.content.lowerBound < piece.upperBound {
            let part = entry.content.clamped(to: piece)
            let isLink = links.indices.contains(index) && links[index]
            if !part.isEmpty, !isLink { found.append((index, entry, part)) }
            index += 1
        }
        return found
    }

    /// Opens a piece, and writes it as each of these, which are equal. Throws `.corrupt` where one of them is another one by the catalog,
    /// `.diskFull`, `.unwritable`, `.io`.
    func open(_ ciphertext: Span<UInt8>, asPieces numbers: [Int]) throws(VaultError) {
        guard let first = numbers.first else { return }
        let plain = try source.plaintext(ofPiece: first, ciphertext: ciphertext)
        for number in numbers {
            guard catalog.digestBytes(number).elementsEqual(catalog.digestBytes(first)) else {
                throw VaultError(
                    .corrupt, "the catalog has other bytes for piece \(number) than the index",
                    at: source.id.description,
                    remedy: "report it to the publisher of the pack")
            }
            try write(plain.span, asPiece: number)
        }
    }

    /// Writes the verified plaintext of a piece to its files. Throws `.corrupt` for another length, `.diskFull`, `.unwritable`, `.io`.
    private func write(_ plain: Span<UInt8>, asPiece number: Int) throws(VaultError) {
        let piece = catalog.pieceRange(number)
        guard plain.count == piece.count else {
            throw VaultError(
                .corrupt, "piece \(number) has another length than the catalog says",
                at: source.id.description,
                remedy: "report it to the publisher of the pack")
        }
        for (index, entry, part) in parts(ofPiece: number) {
            let start = Int(part.lowerBound - piece.lowerBound)
            let bytes = plain.extracting(start..<(start + part.count))
            guard part != entry.content else {
                let file = try tree.withLock { (tree) throws(VaultError) in try tree.create(entry) }
                try file.write(bytes, at: 0)
                continue
            }
            let file = try tree.withLock { (tree) throws(VaultError) in try tree.file(of: entry, at: index) }
            let offset = part.lowerBound - entry.content.lowerBound
            try file.file.write(bytes, at: offset)
            file.file.beginWritingBack(offset..<(offset + UInt64(bytes.count)))
        }
        tree.withLock { $0.isWritten[number] = true }
    }

    /// Verifies what an earlier attempt wrote.
    private func findWritten() async throws(VaultError) {
        let written = OpenedTree(root.path, of: catalog, isUnchanged: false, at: source.id.description)
        try await runInOrder(
            0..<catalog.pieceCount, memory: { 2 * self.catalog.pieceRange($0).count },
            work: { (number: Int) throws(VaultError) -> Int? in
                if self.parts(ofPiece: number).isEmpty { return nil }
                return (try? written.plaintext(ofPiece: number)) == nil ? nil : number
            },
            deliver: { number in
                // Other processes see that this one is alive: what was begun before is a download.
                self.source.pack.file.touch()
                if let number { self.tree.withLock { $0.isWritten[number] = true } }
            })
    }

    /// Writes all that is missing, from the trees of the basis, else from the pack's file, on all cores; then nobody may change the
    /// files, as far as the modes say. Throws `.corrupt` for a piece that neither has, `.diskFull`, `.unwritable`, `.io`.
    ///
    /// - Parameters:
    ///   - sealed: the pack's file if its pieces are to be freed meanwhile, so that the disk needs no room for both.
    ///   - progress: called with the bytes that are there.
    public func finish(freeing sealed: FreeablePack? = nil, progress: (UInt64) -> Void = { _ in })
        async throws(VaultError)
    {
        var number = 0
        var done: UInt64 = 0
        var unsaved: UInt64 = 0
        if let sealed { try free(sealed, upTo: (0..<catalog.pieceCount).first { !has(piece: $0) }) }
        try await runInOrder(
            next: { () throws(VaultError) -> NextInput<Int> in
                while number < catalog.pieceCount {
                    defer { number += 1 }
                    if !has(piece: number) { return .input(number) }
                    done += UInt64(catalog.pieceRange(number).count)
                }
                return .end
            },
            memory: { self.source.openingMemory(ofPiece: $0) },
            work: { (number: Int) throws(VaultError) -> Int in
                if let plain = self.basis?.plaintext(ofPiece: number) {
                    try self.write(plain.span, asPiece: number)
                } else {
                    let plain = try self.source.plaintext(ofPiece: number)
                    try self.write(plain.span, asPiece: number)
                }
                return number
            },
            deliver: { number throws(VaultError) in
                let count = UInt64(catalog.pieceRange(number).count)
                done += count
                progress(done)
                unsaved += count
                guard let sealed, unsaved >= sealed.batch else { return }
                try free(sealed, upTo: number + 1)
                unsaved = 0
            })
        progress(done)
        try tree.withLock { (tree) throws(VaultError) in try tree.finish(catalog) }
    }

    /// Frees the pieces before `end` in the sealed file, once the tree has them on the disk.
    ///
    /// - Parameter end: the first piece that is not written; nil where all are.
    private func free(_ sealed: FreeablePack, upTo end: Int?) throws(VaultError) {
        let end = end ?? catalog.pieceCount
        do throws(VaultError) { try root.synchronizeFileSystem() } catch {
            try removeUnsaved()
            throw error
        }
        tree.withLock { $0.savedCount = end }
        guard end > 0 else { return }
        try sealed.free(upTo: source.end(ofPiece: end - 1))
    }

    /// Removes what was written since the last save, after a save failed. Those bytes can still be read, but may not be on the disk, and a
    /// second save would report success. Pieces that were freed in the sealed file stay: they were saved before.
    package func removeUnsaved() throws(VaultError) {
        let count = tree.withLock { $0.savedCount } ?? firstPieceElsewhere
        try tree.withLock { (tree) throws(VaultError) in
            tree.closeFiles()
            guard count < catalog.pieceCount else { return }
            let saved = catalog.pieceRange(count).lowerBound
            for index in catalog.firstEntry(endingAfter: saved)..<catalog.entryCount where !tree.isLink(index)
            {
                guard let entry = catalog.entry(index), entry.size > 0 else { continue }
                try tree.enter(folderOf: entry.path)
                guard try tree.walk.folder.status(of: entry.path.name) != nil else { continue }
                if entry.content.lowerBound >= saved {
                    try tree.walk.folder.unlink(entry.path.name)
                } else {
                    try tree.file(of: entry, at: index).file.truncate(to: saved - entry.content.lowerBound)
                }
            }
        }
    }

    /// The first piece that is in the pack's file or in a tree of the basis. Many are opened to find it after many were freed.
    private var firstPieceElsewhere: Int {
        (0..<catalog.pieceCount).first { number in
            basis?.has(piece: number) == true || (try? source.plaintext(ofPiece: number)) != nil
        } ?? catalog.pieceCount
    }
}
