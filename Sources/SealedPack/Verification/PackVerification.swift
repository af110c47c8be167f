import VaultConcurrency
import VaultCrypto
public import VaultErrors
import VaultFileSystem

/// What a check without any key has found in a pack: every byte belongs to a part, and every part has its digest.
public struct PackVerification: Sendable {
    /// The numbers of the pieces that do not have their digest.
    public let damagedPieces: [Int]
    /// Whether the catalog's ciphertext has its digest.
    public let isCatalogSound: Bool

    public var isSound: Bool { damagedPieces.isEmpty && isCatalogSound }
}

extension PackFile {
    /// Reads the whole pack once and hashes every byte once, on all cores.
    ///
    /// Header and footer hold nothing but what their length, the manifest and the digests in the footer determine, and
    /// were compared when the pack was opened; the footer proves the index and the catalog, the index each piece. So a sound
    /// pack is, byte for byte, the one that its manifest describes. What this does not prove is that the manifest gives
    /// the right SHA-256 for the whole file; ``OpenFile/sha256()`` tells.
    ///
    /// Throws `.corrupt` when the index itself is not sound, so that nothing can be said about pieces.
    public func check(progress: (UInt64) -> Void = { _ in }) async throws(VaultError) -> PackVerification {
        var runs: [PieceRun] = []
        try forEachIndexRecord { number, record, offset in
            if runs.last?.takes(record) != true { runs.append(PieceRun(first: number, offset: offset)) }
            runs[runs.count - 1].append(record)
        }
        var damaged: [Int] = []
        var next = 0
        var done = PackLayout.piecesOffset
        let reference = reference
        try await runInOrder(
            next: { () throws(VaultError) -> Supply<PieceRun> in
                guard next < runs.count else { return .end }
                defer { next += 1 }
                return .input(runs[next])
            },
            memory: { $0.count },
            work: { run throws(VaultError) in (try run.damagedPieces(in: reference.file), run.count) },
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

/// Pieces one behind the other that are read at once.
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

    /// At least one piece, of whatever size, and no more than the limit of several.
    func takes(_ record: IndexRecord) -> Bool {
        records.isEmpty || count + Int(record.ciphertextCount) <= Self.limit
    }

    mutating func append(_ record: IndexRecord) {
        records.append(record)
        count += Int(record.ciphertextCount)
    }

    func damagedPieces(in file: borrowing OpenFile) throws(VaultError) -> [Int] {
        let bytes = try file.readExactly(count, at: offset)
        var damaged: [Int] = []
        var start = 0
        for (number, record) in records.enumerated() {
            let end = start + Int(record.ciphertextCount)
            if SHA256.hash(bytes.span.extracting(start..<end)) != record.digest {
                damaged.append(first + number)
            }
            start = end
        }
        return damaged
    }
}
