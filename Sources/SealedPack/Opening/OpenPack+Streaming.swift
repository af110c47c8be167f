import VaultConcurrency
package import VaultContent
public import VaultErrors

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
                    try self.plaintext(ofPiece: number, ciphertext: try self.ciphertext(ofPiece: number))
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
