import SystemPackage
public import VaultErrors
import VaultFileSystem

/// A pack that is put together from bytes that arrive in any order, over any number of attempts.
///
/// Its file has the pack's full length from the start, with holes where bytes are missing. Nothing in it is believed for
/// standing there: header and footer follow from the manifest, the tail (index and catalog) has signed digests, and
/// each piece has its digest in the index. So an attempt goes on with whatever an earlier one left, and a damaged piece
/// is a missing one. A piece that equals another one of the pack is copied. Memory: 9 bytes a piece, 8 for each copy, and
/// a few pieces that are arriving.
public struct PackAssembly: ~Copyable, Sendable {
    public let pack: PackManifest
    let packFile: PackFile
    /// Nil until the tail is verified.
    var places: PiecePlaces?
    /// Which pieces are there, verified.
    var states = PieceStates(count: 0)
    var copies: DuplicatePieces?
    var arriving = IncomingPiece()
    private var writeBehind = WriteBehind()
    /// Pieces in a row that arrived with the wrong digest.
    var wrongInARow = 0
    /// A tail that is all there and wrong is fetched as a whole.
    private var isTailWrong = false

    /// Bytes that are there and verified, or in a tail that is still arriving.
    public internal(set) var presentCount: UInt64 = 0

    /// The same with the bytes of a piece that is still arriving.
    public var arrivedCount: UInt64 { presentCount + UInt64(arriving.count) }

    /// Takes over `file`, which its caller has locked: new, or from an earlier attempt.
    public init(_ file: OpenFileReference, of pack: PackManifest) throws(VaultError) {
        let packFile = try Self.prepare(file, of: pack)
        self.init(pack: pack, packFile: packFile)
    }

    private init(pack: PackManifest, packFile: PackFile) {
        self.pack = pack
        self.packFile = packFile
    }

    /// Gives the file its length, its header and its footer.
    private static func prepare(_ file: OpenFileReference, of pack: PackManifest) throws(VaultError)
        -> PackFile
    {
        if try file.file.status().size != pack.length { try file.file.truncate(to: 0) }
        try file.file.truncate(to: pack.length)
        try writeFrame(of: pack, to: file.file)
        return try PackFile(file, as: pack)
    }

    private static func writeFrame(of pack: PackManifest, to file: borrowing OpenFile) throws(VaultError) {
        let header = pack.header.bytes
        let footer = try pack.footer(place: file.path.string).bytes
        try file.write(header.span, at: 0)
        try file.write(footer.span, at: pack.length - UInt64(PackFooter.count))
    }

    var file: OpenFile { _read { yield packFile.file } }
    var layout: PackLayout { packFile.footer.layout }
    var tail: Range<UInt64> { layout.tail }

    /// The bytes that are to be asked for next: what is missing, and what is there already where passing over it is cheaper
    /// than one request more. Nil when the pack is complete.
    public mutating func wanted() throws(VaultError) -> Range<UInt64>? {
        guard let places else {
            let start = isTailWrong ? tail.lowerBound : try endOfArrivedTail()
            // All of it, if it is there and was not looked at.
            return (start < tail.upperBound ? start : tail.lowerBound)..<tail.upperBound
        }
        guard let range = states.nextRange(places) else { return nil }
        let start = places[range.lowerBound].lowerBound + UInt64(arriving.count(ofPiece: range.lowerBound))
        return start..<places[range.upperBound - 1].upperBound
    }

    /// Whether nothing is known of what is there, so that the whole may as well be asked for.
    public var isUnverified: Bool { places == nil }

    /// Whether nothing of it is there.
    public var isEmpty: Bool { isUnverified && presentCount == 0 }

    /// Looks at the tail when all of it has arrived, and then at the pieces. False when the tail is wrong: the next one
    /// wanted is the whole tail. Throws `.corrupt` for an index that is signed and impossible.
    public mutating func verifyTail() async throws(VaultError) -> Bool {
        guard isUnverified else { return true }
        let end = try endOfArrivedTail()
        guard end == tail.upperBound else {
            presentCount = end - tail.lowerBound
            return true
        }
        isTailWrong = (try? isTailSound()) != true
        guard !isTailWrong else { return false }
        let places = try PiecePlaces(of: packFile)
        self.places = places
        states = PieceStates(count: places.count)
        presentCount = pack.length - (tail.lowerBound - PackLayout.piecesOffset)
        try await survey(places)
        try makeCopies(places)
        return true
    }

    /// Lets the disk begin with pieces that were written.
    mutating func noteWritten(_ numbers: [Int], _ places: PiecePlaces) {
        let packFile = packFile
        for number in numbers { writeBehind.note(places[number], in: packFile.file) }
    }

    /// The pack as far as it is there.
    public var partial: PackFile { packFile }

    /// Saves the complete pack to the disk.
    public consuming func finish() throws(VaultError) -> PackFile {
        try file.synchronize()
        return packFile
    }

    /// Somebody else sends what follows.
    public mutating func changeSender() { arriving.changeSender() }

    /// Counts bytes that can't be verified yet; the same ones again are nothing new.
    mutating func noteUnverified(endingAt end: UInt64) {
        let isTail = end > tail.lowerBound && presentCount <= UInt64(tail.count)
        let count = isTail ? end - tail.lowerBound : end
        presentCount = max(presentCount, min(count, pack.length))
    }

    /// The tail arrives front to back: it ends where the first hole begins, or nothing but zeros follow. (A file system
    /// may call a hole data.) Digests and ciphertext end in a few zeros at the most.
    private func endOfArrivedTail() throws(VaultError) -> UInt64 {
        guard let first = try file.dataRanges(in: tail).first, first.lowerBound == tail.lowerBound else {
            return tail.lowerBound
        }
        var end = first.upperBound
        var block: [UInt8] = []
        while end > tail.lowerBound {
            let start = end - min(1 << 16, end - tail.lowerBound)
            // What the disk gives back no more has not arrived.
            guard (try? file.read(into: &block, upTo: Int(end - start), at: start)) != nil else {
                return tail.lowerBound
            }
            guard let last = block.lastIndex(where: { $0 != 0 }) else {
                end = start
                continue
            }
            let zeros = block.count - 1 - last
            return zeros < 16 ? end : end - UInt64(zeros)
        }
        return end
    }

    private func isTailSound() throws(VaultError) -> Bool {
        guard try file.sha256(of: layout.catalogOffset..<layout.footerOffset) == pack.catalogDigest else {
            return false
        }
        return try file.sha256(of: layout.indexOffset..<layout.catalogOffset) == pack.indexDigest
    }
}
