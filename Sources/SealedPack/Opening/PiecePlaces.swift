package import SystemPackage
package import VaultBase
import VaultCrypto
package import VaultFileSystem

/// Where the pieces are that a pack's file has holes for: in files of earlier versions in the same folder, its *bases*. It is saved
/// beside the pack as `PACK.places`. A piece counts only by its digest, wherever it lies, so what is written here is only a hint.
///
///     magic 8 | index digest 32 | bases u32 | runs u32
///     bases: length u16 | name
///     runs:  start u64 | length u64 | base u32 | offset u64
///     SHA-256 of all that 32
///
/// Memory: 40 bytes a run of adjacent pieces.
package struct PiecePlaces: Sendable, Equatable {
    /// Bytes of the pack that lie in a base.
    struct Run: Sendable, Equatable {
        let range: Range<UInt64>
        let base: Int
        let offset: UInt64
    }

    /// More would cost too many open files.
    static let maximumBases = 16
    /// More would take too much memory.
    static let maximumRuns = 1 << 20
    private static let magic = Array("AVPLACES".utf8)
    private static let digestLength = 32
    private static let runLength = 28

    /// The names of the files.
    package let bases: [String]
    /// Ascending.
    let runs: [Run]

    init(bases: [String], runs: [Run]) { (self.bases, self.runs) = (bases, runs) }

    /// What their file's name has after that of the pack.
    package static let suffix = ".places"

    package static func path(beside pack: FilePath) -> FilePath { FilePath(pack.string + suffix) }

    /// Those that are saved beside a pack; nil where there are none, or damaged ones. Throws where they can't be read.
    package init?(beside path: FilePath, of pack: PackFile) throws(VaultError) {
        let (places, limit) = (Self.path(beside: path), Self.limit(of: pack.footer))
        guard let bytes = try optional(DurableFile.read(places, limit: limit), ignoring: .missing, .corrupt)
        else { return nil }
        self.init(parsing: bytes, of: pack.footer)
    }

    /// The same where only the bases are of interest.
    package init?(beside path: FilePath) throws(VaultError) {
        guard try FileSystem.exists(Self.path(beside: path)) else { return nil }
        let pack = try optional(
            PackFile(OpenFileReference(OpenFile(reading: path)), as: nil), ignoring: .missing, .corrupt)
        guard let pack else { return nil }
        try self.init(beside: path, of: pack)
    }

    /// Those in a file beside a pack that another user may have written.
    package init?(in file: borrowing OpenFile, of pack: PackManifest) {
        guard let footer = try? pack.footer(place: file.path.string),
            let bytes = try? file.readAll(limit: Self.limit(of: footer))
        else { return nil }
        self.init(parsing: bytes, of: footer)
    }

    /// A run a piece, and 7 KiB for the header and the names.
    private static func limit(of pack: PackFooter) -> Int {
        (min(Int(pack.layout.pieceCount), maximumRuns) + 256) * runLength
    }

    /// Saves them beside a pack, durably.
    package func save(beside path: FilePath, of pack: PackFile) throws(VaultError) {
        let bytes = bytes(of: pack)
        try DurableFile.write(
            bytes.span, to: Self.path(beside: path), permissions: 0o644, replacing: true)
    }

    private func bytes(of pack: PackFile) -> [UInt8] {
        var bytes = Self.magic + pack.footer.indexDigest.bytes
        bytes.appendBigEndian(UInt32(bases.count))
        bytes.appendBigEndian(UInt32(runs.count))
        for name in bases {
            bytes.appendBigEndian(UInt16(name.utf8.count))
            bytes += name.utf8
        }
        for run in runs {
            bytes.appendBigEndian(run.range.lowerBound)
            bytes.appendBigEndian(UInt64(run.range.count))
            bytes.appendBigEndian(UInt32(run.base))
            bytes.appendBigEndian(run.offset)
        }
        return bytes + SHA256.hash(bytes.span).bytes
    }

    private init?(parsing bytes: [UInt8], of pack: PackFooter) {
        var position = Self.magic.count + Self.digestLength
        let end = bytes.count - Self.digestLength
        guard end >= position,
            bytes.prefix(position).elementsEqual(Self.magic + pack.indexDigest.bytes),
            SHA256.hash(bytes.span.extracting(0..<end)).bytes.elementsEqual(bytes[end...]),
            let baseCount = bytes.span.bigEndian(UInt32.self, at: position),
            let runCount = bytes.span.bigEndian(UInt32.self, at: position + 4),
            baseCount <= Self.maximumBases, runCount <= pack.layout.pieceCount
        else { return nil }
        position += 8
        var bases: [String] = []
        for _ in 0..<baseCount {
            guard let length = bytes.span.bigEndian(UInt16.self, at: position), length > 0,
                position + 2 + Int(length) <= end
            else { return nil }
            let name = String(decoding: bytes[(position + 2)..<(position + 2 + Int(length))], as: UTF8.self)
            guard name.hasPrefix("@"), !name.contains("/"), !name.contains("\0") else { return nil }
            bases.append(name)
            position += 2 + Int(length)
        }
        guard end - position == Int(runCount) * Self.runLength else { return nil }
        var runs: [Run] = []
        runs.reserveCapacity(Int(runCount))
        var free = PackLayout.piecesOffset
        while position < end {
            guard let start = bytes.span.bigEndian(UInt64.self, at: position), start >= free,
                let length = bytes.span.bigEndian(UInt64.self, at: position + 8),
                let base = bytes.span.bigEndian(UInt32.self, at: position + 16), base < baseCount,
                let offset = bytes.span.bigEndian(UInt64.self, at: position + 20),
                offset <= UInt64(Int64.max), start <= pack.layout.indexOffset, length > 0,
                length <= pack.layout.indexOffset - start
            else { return nil }
            runs.append(Run(range: start..<(start + length), base: Int(base), offset: offset))
            free = start + length
            position += Self.runLength
        }
        self.init(bases: bases, runs: runs)
    }

    /// The run with a piece of the pack; nil where its own file has it.
    func run(with piece: Range<UInt64>) -> Run? {
        let index = firstRun(endingAfter: piece.lowerBound)
        guard index < runs.count, runs[index].range.lowerBound <= piece.lowerBound else { return nil }
        return runs[index]
    }

    /// The first run that ends after a position.
    func firstRun(endingAfter position: UInt64) -> Int {
        runs.indices.partitionPoint { runs[$0].range.upperBound > position }
    }
}
