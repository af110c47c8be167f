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
        do throws(VaultError) {
            let bytes = try DurableFile.read(Self.path(beside: path), limit: Self.limit(of: pack.footer))
            self.init(parsing: bytes, of: pack.footer)
        } catch {
            guard error.meansNothingUsable else { throw error }
            return nil
        }
    }

    /// The same where only the bases are of interest.
    package init?(beside path: FilePath) throws(VaultError) {
        guard try FileSystem.exists(Self.path(beside: path)) else { return nil }
        let pack: PackFile
        do throws(VaultError) {
            pack = try PackFile(OpenFileReference(try OpenFile(reading: path)), as: nil)
        } catch {
            guard error.meansNothingUsable else { throw error }
            return nil
        }
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

/// The bases of a pack, open.
package struct PieceBases: Sendable {
    package let places: PiecePlaces
    /// Where they are.
    package let folder: FilePath
    let files: [OpenFileReference]

    init(_ places: PiecePlaces, in folder: FilePath, _ files: [OpenFileReference]) {
        (self.places, self.folder, self.files) = (places, folder, files)
    }

    /// Those of a pack by the places that are saved beside it; nil where there are none, or a base is missing. Throws where they can't be
    /// opened.
    package init?(beside path: FilePath, of pack: PackFile) throws(VaultError) {
        guard let places = try PiecePlaces(beside: path, of: pack) else { return nil }
        let parent = path.removingLastComponent()
        var files: [OpenFileReference] = []
        do throws(VaultError) {
            let folder = try Folder(opening: parent.isEmpty ? "." : parent)
            for name in places.bases { files.append(OpenFileReference(try folder.openFile(name))) }
        } catch {
            guard error.meansNothingUsable else { throw error }
            return nil
        }
        self.init(places, in: parent, files)
    }

    package var paths: [FilePath] { places.bases.map { folder.appending($0) } }

    /// Runs `body` while no process frees pieces of the bases (``FreeablePack``). False where another process does, and where one is not there
    /// under its name any more, or has no longer the pieces that are read of it.
    package func whileComplete(_ body: () throws(VaultError) -> Void) throws(VaultError) -> Bool {
        defer { for file in files { file.file.unlock() } }
        for (number, file) in files.enumerated() {
            // Without locks in the file system no process frees anything.
            guard (try? file.file.tryLock(exclusive: false)) ?? true, try file.file.isStill(at: paths[number])
            else { return false }
            let present = try file.file.dataRanges(in: 0..<file.file.status().size)
            for run in places.runs where run.base == number {
                let end = run.offset.saturatingAdding(UInt64(run.range.count))
                guard present.cover(run.offset..<end) else { return false }
            }
        }
        try body()
        return true
    }

    /// Bytes of pieces from the pack's own file and from its bases.
    func read(_ range: Range<UInt64>, beside own: borrowing OpenFile) throws(VaultError) -> [UInt8] {
        var bytes: [UInt8] = []
        var position = range.lowerBound
        var index = places.firstRun(endingAfter: position)
        while position < range.upperBound {
            let run = index < places.runs.count ? places.runs[index] : nil
            if let run, run.range.lowerBound <= position {
                let part = position..<min(range.upperBound, run.range.upperBound)
                bytes += try files[run.base].file.readExactly(
                    part.count, at: run.offset + (position - run.range.lowerBound))
                position = part.upperBound
                index += 1
            } else {
                let part = position..<min(range.upperBound, run?.range.lowerBound ?? .max)
                bytes += try own.readExactly(part.count, at: position)
                position = part.upperBound
            }
        }
        return bytes
    }
}

extension VaultError {
    /// Whether a file is missing or damaged. Any other error says nothing about what is there.
    fileprivate var meansNothingUsable: Bool { category == .missing || category == .corrupt }
}

extension PackFile {
    /// The unverified bytes of pieces, wherever they lie.
    func pieceBytes(in range: Range<UInt64>) throws(VaultError) -> [UInt8] {
        guard let bases else { return try file.readExactly(range.count, at: range.lowerBound) }
        return try bases.read(range, beside: file)
    }

    /// Whether a base has a piece.
    package func isInBase(_ piece: Range<UInt64>) -> Bool { bases?.places.run(with: piece) != nil }

    /// The base that has a piece, and where; nil for the pack's own file.
    func place(of piece: Range<UInt64>) -> (base: Int, offset: UInt64)? {
        guard let run = bases?.places.run(with: piece) else { return nil }
        return (run.base, run.offset + (piece.lowerBound - run.range.lowerBound))
    }
}
