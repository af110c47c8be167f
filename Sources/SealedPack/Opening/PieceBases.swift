package import SystemPackage
package import VaultBase
import VaultFileSystem

/// The bases of a pack, open.
package struct PieceBases: Sendable {
    package let places: PiecePlaces
    let files: [OpenFileReference]

    init(_ places: PiecePlaces, _ files: [OpenFileReference]) { (self.places, self.files) = (places, files) }

    /// Those of a pack by the places that are saved beside it; nil where there are none, or a base is missing. Throws where they can't be
    /// opened.
    package init?(beside path: FilePath, of pack: PackFile) throws(VaultError) {
        guard let places = try PiecePlaces(beside: path, of: pack) else { return nil }
        let parent = path.removingLastComponent()
        let files = try optional(Self.open(places.bases, in: parent), ignoring: .missing, .corrupt)
        guard let files, !files.isEmpty else { return nil }
        self.init(places, files)
    }

    private static func open(_ names: [String], in parent: FilePath) throws(VaultError)
        -> [OpenFileReference]
    {
        let folder = try Folder(opening: parent.isEmpty ? "." : parent)
        var files: [OpenFileReference] = []
        for name in names { files.append(OpenFileReference(try folder.openFile(name))) }
        return files
    }

    package var paths: [FilePath] { files.map { $0.file.path } }

    /// Where they are.
    package var folder: FilePath? { paths.first?.removingLastComponent() }

    /// Runs `body` while no process frees pieces of the bases (``FreeablePack``). False where another process does, and where one is
    /// not there under its name any more, or no longer has the pieces that this pack takes from it.
    package func whileComplete(_ body: () throws(VaultError) -> Void) throws(VaultError) -> Bool {
        defer { for file in files { file.file.unlock() } }
        for (number, file) in files.enumerated() {
            // Without locks in the file system no process frees anything.
            guard (try? file.file.tryLock(exclusive: false)) ?? true,
                try file.file.isStill(at: file.file.path)
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
