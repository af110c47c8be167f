public import VaultBase
public import VaultCrypto
public import VaultFileSystem

/// The result of verifying a pack without any key: every byte belongs to a part, and every part has a digest.
public struct PackVerification: Sendable {
    /// The numbers of the pieces with a wrong digest.
    public let damagedPieces: [Int]
    /// Whether the catalog's ciphertext has the right digest.
    public let isCatalogSound: Bool

    public var isSound: Bool { damagedPieces.isEmpty && isCatalogSound }
}

extension PackFile {
    /// Reads the whole pack once and hashes every byte once, on all cores.
    ///
    /// Header and footer were compared with the manifest when the pack was opened. The footer has the digests of index
    /// and catalog, the index those of the pieces. So a sound pack is, byte for byte, the one that its manifest
    /// describes. The manifest's SHA-256 of the whole file is not verified here, but by `OpenFile.sha256()`.
    ///
    /// Throws `.corrupt` when the index is damaged, as the pieces can't be verified then.
    public func check(progress: (UInt64) -> Void = { _ in }) async throws(VaultError) -> PackVerification {
        var runs: [PieceRun] = []
        try forEachIndexRecord { number, record, offset in
            if runs.last?.hasSpace(for: record) != true {
                runs.append(PieceRun(first: number, offset: offset))
            }
            runs[runs.count - 1].append(record)
        }
        var damaged: [Int] = []
        var done = PackLayout.piecesOffset
        try await runInOrder(
            runs, memory: { $0.count },
            work: { run throws(VaultError) in (try run.damagedPieces(in: self), run.count) },
            deliver: { (numbers: [Int], count: Int) in
                damaged += numbers
                done += UInt64(count)
                progress(done)
            })
        let layout = footer.layout
        let catalog = try file.sha256(of: layout.catalogOffset..<layout.footerOffset)
        progress(length)
        return PackVerification(damagedPieces: damaged, isCatalogSound: catalog == footer.catalogDigest)
    }
}

extension PackFile {
    /// Whether a piece of this pack is at a range of some file, by the digest of the verified index. Throws where it can't be read.
    package func isSound(_ number: Int, at range: Range<UInt64>, in file: PackFile) throws(VaultError) -> Bool
    {
        let bytes = try file.pieceBytes(in: range)
        return try isPiece(number, bytes.span)
    }

    /// Whether bytes are those of a piece, by the digest of the verified index. Throws where the index can't be read.
    func isPiece(_ number: Int, _ ciphertext: Span<UInt8>) throws(VaultError) -> Bool {
        try SHA256.hash(ciphertext) == digest(ofPiece: number)
    }

    /// For each piece whether the file itself has it, sound. An unreadable one is missing.
    package func writtenPieces() async throws(VaultError) -> [Bool] {
        let ranges = try PieceRanges(of: self)
        var isWritten = [Bool](repeating: false, count: ranges.count)
        try await verifyWrittenPieces(ranges) { number, isSound in isWritten[number] = isSound }
        return isWritten
    }
}

/// Adjacent pieces that are read at once.
private struct PieceRun: Sendable {
    private static let limit = 1 << 20

    let first: Int
    let offset: UInt64
    private(set) var count = 0
    private var records: [IndexRecord] = []

    init(first: Int, offset: UInt64) {
        self.first = first
        self.offset = offset
    }

    /// One piece of any size, or several up to the limit.
    func hasSpace(for record: IndexRecord) -> Bool {
        records.isEmpty || count + Int(record.ciphertextLength) <= Self.limit
    }

    mutating func append(_ record: IndexRecord) {
        records.append(record)
        count += Int(record.ciphertextLength)
    }

    func damagedPieces(in pack: PackFile) throws(VaultError) -> [Int] {
        let bytes = try pack.pieceBytes(in: offset..<(offset + UInt64(count)))
        var damaged: [Int] = []
        var start = 0
        for (number, record) in records.enumerated() {
            let end = start + Int(record.ciphertextLength)
            if SHA256.hash(bytes.span.extracting(start..<end)) != record.digest {
                damaged.append(first + number)
            }
            start = end
        }
        return damaged
    }
}

extension OpenFile {
    /// SHA-256 of the whole file, read front to back.
    public func sha256() throws(VaultError) -> SHA256Digest {
        try sha256(of: 0..<status().size)
    }

    /// Whether the file has this length and digest.
    public func hasContent(length: UInt64, _ sha256: SHA256Digest?) throws(VaultError) -> Bool {
        guard try status().size == length else { return false }
        return try self.sha256() == sha256
    }

    /// Whether the file has the bytes that another one has where that has no holes.
    package func hasSameData(as other: borrowing OpenFile) throws(VaultError) -> Bool {
        for range in try other.dataRanges(in: 0..<other.status().size)
        where try sha256(of: range) != other.sha256(of: range) {
            return false
        }
        return true
    }

    /// SHA-256 of a part of the file, as far as the file goes.
    func sha256(of range: Range<UInt64>) throws(VaultError) -> SHA256Digest {
        var digest = SHA256()
        try forEachBlock(of: range) { block, _ in digest.update(block) }
        return digest.finalize()
    }
}
