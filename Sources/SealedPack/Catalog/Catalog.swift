import VaultBase

/// The verified list of a pack's files, searched in place in the decrypted bytes.
///
/// Only `UnverifiedCatalog.verified` makes one, so every offset below lies inside `bytes`.
public struct Catalog: Sendable {
    let bytes: [UInt8]
    let pieceCount: Int
    public let entryCount: Int
    /// Bytes of all files together.
    public let contentLength: UInt64
    /// The size in memory.
    public var byteLength: Int { bytes.count }
    let piecesOffset: Int
    let entriesOffset: Int
    let pathsOffset: Int

    /// One file or empty folder.
    public struct Entry: Sendable {
        public let path: EntryPath
        public let kind: PackEntryKind
        /// The file's range in the stream of all files' bytes.
        public let content: Range<UInt64>
        public var size: UInt64 { content.upperBound - content.lowerBound }
    }

    /// The entry at `index` in the order of the paths' bytes.
    public func entry(_ index: Int) -> Entry? {
        guard (0..<entryCount).contains(index),
            let path = try? EntryPath(bytes.span.extracting(pathRange(index))),
            let kind = PackEntryKind(
                rawValue: bytes[entriesOffset + index * CatalogFormat.entryRecordLength + 4])
        else { return nil }
        return Entry(path: path, kind: kind, content: entryEnd(index - 1)..<entryEnd(index))
    }

    /// The entry at `path`, by binary search.
    public func entry(at path: EntryPath) -> Entry? {
        firstIndex(notBefore: path.utf8Bytes.span).flatMap(entry).flatMap { $0.path == path ? $0 : nil }
    }

    /// Whether the pack has a folder at `path`: an empty one, or one with entries below it.
    public func hasFolder(at path: EntryPath) -> Bool {
        if let entry = entry(at: path) { return entry.kind == .emptyFolder }
        let prefix = path.utf8Bytes + [UInt8(ascii: "/")]
        guard let index = firstIndex(notBefore: prefix.span) else { return false }
        return bytes[pathRange(index)].starts(with: prefix)
    }

    /// The first entry whose path's bytes are not less than `path`; nil when all are.
    func firstIndex(notBefore path: Span<UInt8>) -> Int? {
        let bytes = bytes.span
        var low = 0
        var high = entryCount
        while low < high {
            let middle = low + (high - low) / 2
            if bytes.extracting(pathRange(middle)).precedes(path) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < entryCount ? low : nil
    }

    /// The piece that contains the stream's byte at `offset`, by binary search.
    func piece(containing offset: UInt64) -> Int {
        (0..<pieceCount).partitionPoint { pieceEnd($0) > offset }
    }

    /// The numbers of the pieces that contain `content`.
    package func pieces(containing content: Range<UInt64>) -> Range<Int> {
        guard !content.isEmpty else { return 0..<0 }
        return piece(containing: content.lowerBound)..<(piece(containing: content.upperBound - 1) + 1)
    }

    /// The files with bytes in some pieces.
    package func files(inPieces numbers: Range<Int>) -> [EntryPath] {
        let content = pieceEnd(numbers.lowerBound - 1)..<pieceEnd(numbers.upperBound - 1)
        var found: [EntryPath] = []
        var index = firstEntry(endingAfter: content.lowerBound)
        while let entry = entry(index), entry.content.lowerBound < content.upperBound {
            if entry.size > 0 { found.append(entry.path) }
            index += 1
        }
        return found
    }

    /// The bytes of all pieces that contain a part of `content`: reading it opens all of them.
    package func openedSize(of content: Range<UInt64>) -> UInt64 {
        let pieces = pieces(containing: content)
        guard let first = pieces.first, let last = pieces.last else { return 0 }
        return pieceRange(last).upperBound - pieceRange(first).lowerBound
    }

    /// The range of piece `index` in the stream of all files' bytes.
    package func pieceRange(_ index: Int) -> Range<UInt64> { pieceEnd(index - 1)..<pieceEnd(index) }

    /// SHA-256 of the plaintext of piece `index`.
    func digestBytes(_ index: Int) -> ArraySlice<UInt8> {
        let start = piecesOffset + index * CatalogFormat.pieceRecordLength + 8
        return bytes[start..<(start + 32)]
    }

    /// The piece, entry and path tables, which describe all content.
    package var tables: ArraySlice<UInt8> { bytes[piecesOffset...] }

    private func pieceEnd(_ index: Int) -> UInt64 {
        index < 0 ? 0 : load(UInt64.self, at: piecesOffset + index * CatalogFormat.pieceRecordLength)
    }

    func entryEnd(_ index: Int) -> UInt64 {
        index < 0 ? 0 : load(UInt64.self, at: entriesOffset + index * CatalogFormat.entryRecordLength + 8)
    }

    func pathRange(_ index: Int) -> Range<Int> {
        func end(_ index: Int) -> Int {
            index < 0
                ? 0 : Int(load(UInt32.self, at: entriesOffset + index * CatalogFormat.entryRecordLength))
        }
        return (pathsOffset + end(index - 1))..<(pathsOffset + end(index))
    }

    private func load<Value: FixedWidthInteger & UnsignedInteger>(_ type: Value.Type, at offset: Int) -> Value
    {
        bytes.span.bigEndian(type, at: offset) ?? 0
    }
}

/// What an entry of a pack is.
public enum PackEntryKind: UInt8, Sendable {
    /// An empty folder; all other folders follow from the paths.
    case emptyFolder = 0
    /// A file that is not executable.
    case file = 1
    /// Executable by all.
    case executable = 2
}
