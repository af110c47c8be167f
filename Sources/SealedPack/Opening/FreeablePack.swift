public import SystemPackage
public import VaultBase
package import VaultFileSystem

/// The file of a pack whose pieces are freed while the pack is opened: once opened pieces are saved to the disk, they become holes in
/// the file. So the disk needs room for the opened pack and a few pieces, and not for both forms.
public struct FreeablePack: Sendable {
    /// Open for writing.
    package let file: OpenFileReference
    private let pieces: Range<UInt64>
    /// Bytes of opened pieces that are saved at a time.
    let batch: UInt64

    /// Pieces that are opened at a time.
    private static let opening: UInt64 = 8 << 20

    /// Changes nothing. Throws `.unwritable` where others may need the file, or its file system can't free a part of it.
    ///
    /// - Parameters:
    ///   - openedSize: bytes of all files of the pack.
    ///   - path: where the file is.
    public init(_ pack: PackFile, openedSize: UInt64, at path: FilePath) throws(VaultError) {
        func refuse(_ problem: String) -> VaultError {
            VaultError(
                .unwritable, "\(problem), so its pieces can't be freed while it is opened", at: path.string,
                remedy: "keep it, or open a copy of it that is a file of its own")
        }
        guard try FileSystem.status(of: path)?.kind == .file else { throw refuse("it is not a file") }
        // What was opened is looked at, not the name: another process may give that to another file.
        let opened = OpenFileReference(try OpenFile(updating: path))
        let found = try opened.file.status()
        guard try found.isSameFile(as: pack.file.status()) else { throw refuse("it is another file by now") }
        guard found.isOfThisUser else { throw refuse("the pack is another user's") }
        guard found.hardLinks == 1 else { throw refuse("the pack has other names") }
        // Another user's places say nothing of a file that is read without them.
        guard pack.bases == nil,
            try FileSystem.status(of: PiecePlaces.path(beside: path))?.isOfThisUser != true
        else { throw refuse("the pack rests on other files") }
        file = opened
        let size = found.size
        pieces = PackLayout.piecesOffset..<pack.footer.layout.indexOffset
        batch = min(24 << 20, openedSize / 16)
        // Behind the end there is nothing to free.
        guard try file.file.punchHole(in: size..<(size + 1)) else {
            throw refuse("the file system can't free a part of a file")
        }
    }

    /// Bytes that must be free to write `rest` bytes of the opened pack, counting what is freed meanwhile.
    package func room(for rest: UInt64) throws(VaultError) -> UInt64 {
        let freed = try file.file.dataRanges(in: pieces).reduce(0) { $0 + UInt64($1.count) }
        let needed = rest + min(2 * batch + Self.opening, .max - rest)
        return min(rest, needed - min(needed, freed))
    }

    /// Frees the pieces before `end`, an offset in the file.
    func free(upTo end: UInt64) throws(VaultError) {
        // Again from the first one: a block with the ends of two pieces is free once both are.
        guard try file.file.punchHole(in: pieces.clamped(to: 0..<end)) else {
            throw VaultError(
                .io, "the file system no longer frees parts of the pack", at: file.file.path.string,
                remedy: "check the disk")
        }
        FailPoint.reach("piecesFreed")
    }
}
