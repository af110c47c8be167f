public import VaultBase
public import VaultCrypto
public import VaultFileSystem

/// A pack that is read with its content key: its index and catalog are verified, its pieces are verified as they are
/// read. Many tasks may read at once.
public final class OpenPack: Sendable {
    public let catalog: Catalog
    public let id: PackID
    public let version: UInt64
    public let pack: PackFile
    package let key: ContentKey

    public var manifest: PackManifest? { pack.manifest }

    /// Names the pack among all others: the digest of its index.
    package var identity: String { pack.footer.indexDigest.hex }

    private let ranges: PieceRanges

    /// Throws `.key` when `key` is another pack's, `.corrupt` when the parts do not match.
    public init(_ pack: PackFile, key: ContentKey) throws(VaultError) {
        func refuse(_ problem: String) -> VaultError {
            VaultError(.corrupt, problem, at: pack.place, remedy: "use the pack with its own manifest")
        }
        guard key.id == pack.header.contentKeyID else {
            throw VaultError(
                .key, "the content key is another pack's", at: pack.place,
                remedy: "inject the key that the pack was sealed for")
        }
        let unverified = try UnverifiedCatalog(
            parsing: CatalogMessage.open(of: pack, key: key), place: pack.place)
        if let manifest = pack.manifest {
            guard unverified.id == manifest.id, unverified.version == manifest.version else {
                throw refuse("the catalog is that of \(unverified.id) version \(unverified.version)")
            }
        }
        catalog = try unverified.verified(pieceCount: pack.pieceCount, indexDigest: pack.footer.indexDigest)
        if let manifest = pack.manifest {
            guard manifest.openedSize == catalog.contentLength else {
                throw refuse("the opened size differs from the manifest")
            }
            guard manifest.entryCount == catalog.entryCount else {
                throw refuse("the number of files differs from the manifest")
            }
        }
        id = unverified.id
        version = unverified.version
        ranges = try PieceRanges(of: pack)
        self.pack = pack
        self.key = key
    }

    /// Finds the pack's content key among `keys`, by its own ID or in the manifest's slots.
    public convenience init(_ pack: PackFile, keys: any KeyProvider) async throws(VaultError) {
        let key = try await keys.contentKey(
            pack.contentKeyID, slots: pack.manifest?.slots ?? [], place: pack.place)
        try self.init(pack, key: key)
    }

    /// The unverified ciphertext of piece `number`.
    func ciphertext(ofPiece number: Int) throws(VaultError) -> [UInt8] {
        let range = ranges[number]
        guard !range.isEmpty else { throw damaged(number) }
        return try pack.pieceBytes(in: range)
    }

    /// The byte ranges of pieces in the file, adjacent ones joined; numbers must be ascending.
    public func byteRanges(ofPieces numbers: [Int]) -> [Range<UInt64>] {
        numbers.reduce(into: []) { byteRanges, number in
            let range = ranges[number]
            if let last = byteRanges.last, last.upperBound == range.lowerBound {
                byteRanges[byteRanges.count - 1] = last.lowerBound..<range.upperBound
            } else if !range.isEmpty {
                byteRanges.append(range)
            }
        }
    }

    /// The end of a piece in the pack's file.
    func end(ofPiece number: Int) -> UInt64 { ranges[number].upperBound }

    /// The memory for opening a piece: ciphertext, message, plaintext and zstd's window.
    func openingMemory(ofPiece number: Int) -> Int {
        2 * ranges[number].count + 2 * catalog.pieceRange(number).count
    }

    /// The verified plaintext of piece `number`.
    package func plaintext(ofPiece number: Int) throws(VaultError) -> ArraySlice<UInt8> {
        let ciphertext = try ciphertext(ofPiece: number)
        return try plaintext(ofPiece: number, ciphertext: ciphertext.span)
    }

    /// Decrypts a piece and verifies its length and digest by the catalog.
    func plaintext(ofPiece number: Int, ciphertext: Span<UInt8>) throws(VaultError) -> ArraySlice<UInt8> {
        let range = catalog.pieceRange(number)
        let count = Int(range.upperBound - range.lowerBound)
        do throws(VaultError) {
            let plain = try decrypt(ciphertext, contentLength: count)
            if plain.count == count, SHA256.hash(plain.span).bytes.elementsEqual(catalog.digestBytes(number))
            {
                return plain
            }
        } catch {
            // Other errors, such as lack of memory, do not mean damage.
            guard error.category == .corrupt, !error.needsNewerRelease else { throw error }
        }
        throw damaged(number)
    }

    private func decrypt(
        _ ciphertext: Span<UInt8>, contentLength count: Int
    ) throws(VaultError) -> ArraySlice<UInt8> {
        let message = try Cobblestone256.open(
            ciphertext, context: PieceSealer.context, key: key.pieceKey)
        return try PieceCodec(ofMessage: message, at: pack.place).decode(message, from: 1, exactly: count)
    }

    private func damaged(_ number: Int) -> VaultError {
        VaultError(
            .corrupt, "piece \(number) is damaged", at: pack.place,
            remedy: "repair the pack, or fetch it again")
    }
}

extension OpenPack {
    /// Passes the verified bytes of `content` to `deliver` in order; pieces are opened in parallel. Throws `.usage` for
    /// a range beyond the content, `.corrupt` for a damaged piece.
    public func read(_ content: Range<UInt64>, _ deliver: (Span<UInt8>) throws(VaultError) -> Void)
        async throws(VaultError)
    {
        guard content.upperBound <= catalog.contentLength else {
            throw VaultError(
                .usage, "the content has \(catalog.contentLength) bytes, not \(content.upperBound)",
                at: id.description, remedy: "ask for less")
        }
        try await forEachPiece(catalog.pieces(containing: content)) { number, plain throws(VaultError) in
            let wanted = catalog.pieceRange(number).clamped(to: content)
            let start = catalog.pieceRange(number).lowerBound
            try deliver(
                plain.span.extracting(Int(wanted.lowerBound - start)..<Int(wanted.upperBound - start)))
        }
    }

    /// The verified bytes of a small file; nil where the pack has none of at most `limit` bytes at the path. Throws `.corrupt` for a
    /// damaged piece.
    package func file(at path: EntryPath, limit: UInt64) async throws(VaultError) -> [UInt8]? {
        guard let entry = catalog.entry(at: path), entry.size <= limit else { return nil }
        return try await ContentReader(self, content: entry.content).read(0..<entry.size)
    }

    /// Passes whole pieces to `deliver` in order; they are opened in parallel.
    func forEachPiece(_ numbers: Range<Int>, _ deliver: (Int, ArraySlice<UInt8>) throws(VaultError) -> Void)
        async throws(VaultError)
    {
        try await runInOrder(
            numbers, memory: { self.openingMemory(ofPiece: $0) },
            work: { (number: Int) throws(VaultError) -> (number: Int, plain: ArraySlice<UInt8>) in
                (
                    number,
                    try self.plaintext(ofPiece: number)
                )
            },
            deliver: { (piece: (number: Int, plain: ArraySlice<UInt8>)) throws(VaultError) in
                try deliver(piece.number, piece.plain)
            })
    }

    /// Writes everything to `sink`, entry by entry in the order of the paths.
    public func extract(to sink: inout some ContentSink & ~Copyable, progress: (UInt64) -> Void = { _ in })
        async throws(VaultError)
    {
        var index = 0
        var current: Catalog.Entry?
        // Entries without bytes need no piece.
        func advance(to position: UInt64) throws(VaultError) {
            while current.map({ $0.content.upperBound == position }) ?? true {
                if current != nil { try sink.endEntry() }
                current = catalog.entry(index)
                guard let entry = current else { return }
                index += 1
                try sink.beginEntry(entry)
            }
        }
        var position: UInt64 = 0
        try advance(to: 0)
        try await read(0..<catalog.contentLength) { (plain: Span<UInt8>) throws(VaultError) in
            var start = 0
            while start < plain.count, let entry = current {
                let count = Int(min(UInt64(plain.count - start), entry.content.upperBound - position))
                try sink.write(plain.extracting(start..<(start + count)))
                start += count
                position += UInt64(count)
                try advance(to: position)
            }
            progress(position)
        }
        guard index == catalog.entryCount, current == nil else {
            throw VaultError(
                .corrupt, "the pack ends inside a file", at: id.description,
                remedy: "repair the pack, or fetch it again")
        }
    }
}

/// Receives the entries of a pack in the order of their paths.
public protocol ContentSink: ~Copyable {
    mutating func beginEntry(_ entry: Catalog.Entry) throws(VaultError)
    /// Writes the next bytes of the current entry.
    mutating func write(_ bytes: Span<UInt8>) throws(VaultError)
    mutating func endEntry() throws(VaultError)
}

extension OpenPack {
    /// Writes all files into one folder, which must be empty and private to the writer; see ``TreeWriter``. Throws `.corrupt`,
    /// `.unwritable`, `.io`, and leaves incomplete files.
    ///
    /// - Parameter basis: trees of which unchanged files are linked and unchanged pieces are copied. The pack itself needs to have only
    ///   the other pieces.
    public func extract(
        into root: borrowing Folder, _ modes: TreeModes, restingOn basis: TreeBasis? = nil,
        progress: (UInt64) -> Void = { _ in }
    ) async throws(VaultError) {
        try await TreeWriter(of: self, into: root, modes, restingOn: basis).finish(progress: progress)
    }
}

extension PaxWriter: ContentSink {
    public mutating func beginEntry(_ entry: Catalog.Entry) throws(VaultError) {
        switch entry.kind {
        case .emptyFolder: try folder(entry.path)
        case .file: try beginFile(entry.path, size: entry.size, executable: false)
        case .executable: try beginFile(entry.path, size: entry.size, executable: true)
        }
    }

    public mutating func endEntry() {}
}
