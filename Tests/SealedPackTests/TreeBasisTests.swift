import Glibc
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem

@testable import SealedPack

/// A pack is opened onto the tree of its earlier version.
struct TreeBasisTests {
    private let (place, oldPlace): (PackPlace, PackPlace)
    private let key: ContentKey
    private let old: FilePath
    private let oldPack: OpenPack

    /// Long files of several pieces, and short ones that share a piece.
    private static let files: [String: [UInt8]] = [
        "long/one": noise(600_000, seed: 1), "long/two": noise(600_000, seed: 2),
        "run": noise(90_000, seed: 3),
        "short/a": noise(100, seed: 4), "short/b": noise(100, seed: 5), "empty": [],
    ]

    init() async throws {
        (place, oldPlace) = (try PackPlace(), try PackPlace())
        key = try await TestKey().contentKey()
        let sealed = try await seal(Self.source(Self.files), key: key)
        oldPack = try oldPlace.open(sealed.bytes, as: sealed.manifest.json, with: key)
        old = try place.folder.makeFolder("old")
        try await oldPack.extract(into: Folder(opening: old), .readOnly)
    }

    private static func source(_ files: [String: [UInt8]]) -> Source {
        var source = Source(files: files)
        source.executables = ["run"]
        return source
    }

    /// A newer version, and its basis.
    private func version(
        _ files: [String: [UInt8]], isUnchanged: Bool = true
    ) async throws -> (pack: OpenPack, basis: TreeBasis) {
        let sealed = try await seal(Self.source(files), key: key)
        let pack = try place.open(sealed.bytes, as: sealed.manifest.json, with: key)
        let tree = try OpenedTree(old, openedFrom: oldPack.pack, key: key, isUnchanged: isUnchanged)
        return (pack, try await TreeBasis(of: pack, on: [tree]))
    }

    private func opened(_ pack: OpenPack, on basis: TreeBasis) async throws -> FilePath {
        let new = try place.folder.makeFolder("new")
        try await pack.extract(into: Folder(opening: new), .readOnly, restingOn: basis)
        return new
    }

    private func expect(_ files: [String: [UInt8]], in tree: FilePath) throws {
        for (path, bytes) in files {
            let file = try OpenFile(reading: tree.appending(path))
            #expect(
                try file.readExactly(bytes.count, at: 0) == bytes && file.status().size == bytes.count,
                "\(path)")
        }
    }

    private func isLinked(_ path: String, in tree: FilePath, to other: String) throws -> Bool {
        guard let one = try FileSystem.status(of: tree.appending(path)) else { return false }
        return try FileSystem.status(of: old.appending(other))?.isSameFile(as: one) == true
    }

    private func pieces(of pack: OpenPack, outside basis: TreeBasis) -> [Int] {
        (0..<Int(pack.pack.pieceCount)).filter { !basis.has(piece: $0) }
    }

    @Test func unchangedFilesAreLinked() async throws {
        var files = Self.files
        files["long/two"]?[599_000] ^= 1
        let (pack, basis) = try await version(files)
        // The end of one file has changed.
        #expect(1..<4 ~= pieces(of: pack, outside: basis).count)
        let tree = try await opened(pack, on: basis)
        try expect(files, in: tree)
        #expect(try isLinked("long/one", in: tree, to: "long/one"))
        #expect(try !isLinked("long/two", in: tree, to: "long/two"))
        #expect(600_000..<1_200_000 ~= basis.linkedLength)
        // Nobody changes a file that several versions have.
        #expect(try FileSystem.status(of: tree.appending("long/two"))?.permissions == 0o444)
        #expect(try FileSystem.status(of: tree.appending("run"))?.permissions == 0o555)
        try await OpenedTree(tree, openedFrom: pack.pack, key: key, isUnchanged: false).requireSound()
    }

    /// The bytes of a file are known by its pieces, so it is found wherever it was.
    @Test func aMovedFileIsLinked() async throws {
        var files = Self.files
        files["elsewhere/long"] = files.removeValue(forKey: "long/one")
        let (pack, basis) = try await version(files)
        let tree = try await opened(pack, on: basis)
        try expect(files, in: tree)
        #expect(try isLinked("elsewhere/long", in: tree, to: "long/one"))
    }

    /// A link has the mode of the file that it is.
    @Test func aFileOfAnotherKindIsWritten() async throws {
        let sealed = try await seal(Source(files: Self.files), key: key)
        let pack = try place.open(sealed.bytes, as: sealed.manifest.json, with: key)
        let tree = try OpenedTree(old, openedFrom: oldPack.pack, key: key, isUnchanged: true)
        let basis = try await TreeBasis(of: pack, on: [tree])
        #expect(pieces(of: pack, outside: basis).isEmpty)
        let new = try await opened(pack, on: basis)
        #expect(try !isLinked("run", in: new, to: "run"))
        #expect(try FileSystem.status(of: new.appending("run"))?.permissions == 0o444)
        try expect(Self.files, in: new)
    }

    /// The pack's file has just the pieces that the tree does not have.
    @Test func aPartialPackSuffices() async throws {
        var files = Self.files
        files["long/two"]?[300_000] ^= 1
        let (pack, basis) = try await version(files)
        let partial = try partial(pack) { basis.has(piece: $0) }
        try expect(files, in: try await opened(partial, on: basis))
    }

    /// Where files of the tree may have changed, they are read: what is sound is copied, and nothing is linked.
    @Test func aChangedTreeIsRead() async throws {
        try OpenFile(updating: old.appending("long/one")).write([UInt8(1)].span, at: 10)
        let (pack, basis) = try await version(Self.files, isUnchanged: false)
        #expect(pieces(of: pack, outside: basis).count == 1 && basis.linkedLength == 0)
        let tree = try await opened(pack, on: basis)
        try expect(Self.files, in: tree)
        #expect(try !isLinked("long/two", in: tree, to: "long/two"))
    }

    /// A file that was changed behind the basis's back and is gone: the whole pack has the bytes.
    @Test func theTreeGoesAway() async throws {
        let (pack, basis) = try await version(Self.files)
        try FileSystem.removeTree(old.appending("long"))
        let tree = try await opened(pack, on: basis)
        try expect(Self.files, in: tree)
        #expect(try isLinked("run", in: tree, to: "run"))
    }

    /// A file is not linked that is not a file any more, or that others may write.
    @Test(arguments: [true, false]) func aFileThatIsNoLongerOurs(isLink: Bool) async throws {
        let (pack, basis) = try await version(Self.files)
        let outside = place.folder.path.appending("outside")
        try OpenFile(creating: outside, permissions: 0o666).write(noise(600_000, seed: 9).span, at: 0)
        try FileSystem.removeFile(old.appending("long/one"))
        if isLink {
            try Folder(opening: old.appending("long")).symlink("one", target: outside)
        } else {
            try FileSystem.move(outside, to: old.appending("long/one"), replacing: false)
            #expect(unsafe chmod(old.appending("long/one").string, 0o666) == 0)
        }
        try expect(Self.files, in: try await opened(pack, on: basis))
    }

    // MARK: - Attempts

    /// The version without some of its pieces, as a download that was interrupted leaves it.
    private func partial(_ pack: OpenPack, without missing: (Int) -> Bool) throws -> OpenPack {
        let path = place.folder.path.appending("partial")
        try FileSystem.removeTree(path)
        try pack.pack.writeTailFile(to: OpenFile(creating: path, permissions: 0o600))
        for range in pack.byteRanges(ofPieces: (0..<Int(pack.pack.pieceCount)).filter { !missing($0) }) {
            let bytes = try pack.pack.file.readExactly(range.count, at: range.lowerBound)
            try OpenFile(updating: path).write(bytes.span, at: range.lowerBound)
        }
        return try OpenPack(try PackFile(opening: path, as: pack.manifest), key: key)
    }

    private func isSound(_ tree: FilePath, of pack: OpenPack) async -> Bool {
        (try? await OpenedTree(tree, of: pack).requireSound()) != nil
    }

    /// What an attempt wrote counts in the next one, if it is sound.
    @Test func theNextAttemptGoesOn() async throws {
        let new = try place.folder.makeFolder("new")
        let root = try Folder(opening: new)
        let last = Int(oldPack.pack.pieceCount) - 1
        let incomplete = try partial(oldPack) { $0 == last }
        await expectError(.corrupt, "piece \(last)") {
            try await TreeWriter(of: incomplete, into: root, .readOnly).finish()
        }
        #expect(await !isSound(new, of: oldPack))
        // Damaged since, such as by a power failure.
        try OpenFile(updating: new.appending("long/one")).write([UInt8(1)].span, at: 10)
        let nothing = try partial(oldPack) { _ in true }
        let progress = try await TreeWriter(of: nothing, into: root, .readOnly).progress
        #expect(progress.done > 900_000 && progress.done < progress.total - 50_000, "\(progress)")
        try await TreeWriter(of: oldPack, into: root, .readOnly).finish()
        #expect(await isSound(new, of: oldPack))
        #expect(try FileSystem.status(of: new.appending("long/one"))?.permissions == 0o444)
        // And once more, with all of it there.
        try await TreeWriter(of: nothing, into: root, .readOnly).finish()
        #expect(await isSound(new, of: oldPack))
    }

    /// A file that an earlier attempt linked is never written to: it is that of another version.
    @Test func linksOfAnEarlierAttemptAreNotWrittenTo() async throws {
        let (pack, basis) = try await version(Self.files)
        let new = try place.folder.makeFolder("new")
        let root = try Folder(opening: new)
        _ = try await TreeWriter(of: pack, into: root, .readOnly, restingOn: basis)
        #expect(try isLinked("long/one", in: new, to: "long/one"))
        // By whoever opens it next, it is no link.
        try OpenFile(updating: old.appending("long/one")).write([UInt8(1)].span, at: 10)
        let changed = try OpenFile(reading: old.appending("long/one")).sha256()
        try await TreeWriter(of: pack, into: root, .readOnly).finish()
        #expect(await isSound(new, of: pack))
        #expect(try OpenFile(reading: old.appending("long/one")).sha256() == changed)
        #expect(try !isLinked("long/one", in: new, to: "long/one"))
    }

    /// The same links are taken up.
    @Test func linksAreTakenUp() async throws {
        let (pack, basis) = try await version(Self.files)
        let new = try place.folder.makeFolder("new")
        let root = try Folder(opening: new)
        for _ in 0..<2 {
            let nothing = try partial(pack) { _ in true }
            let progress = try await TreeWriter(of: nothing, into: root, .readOnly, restingOn: basis).progress
            #expect(progress.done == progress.total)
        }
        try await TreeWriter(of: pack, into: root, .readOnly, restingOn: basis).finish()
        #expect(await isSound(new, of: pack))
    }

    // MARK: - Pieces that arrive

    /// A genuine piece in the place of another one, by an index that others changed or a catalog that is not that of the pieces.
    @Test func aPieceInAnotherPlaceIsRefused() async throws {
        // Without any place to cut at, pieces have the greatest length.
        let files = [UInt8(1), 2].map { byte in ("\(byte)", [UInt8](repeating: byte, count: 4 << 20)) }
        let (pack, _) = try await version(Dictionary(uniqueKeysWithValues: files))
        let pieces = 0..<Int(pack.pack.pieceCount)
        let (one, other) = try #require(
            pieces.lazy.flatMap { one in pieces.lazy.map { (one, $0) } }.first { one, other in
                pack.catalog.pieceRange(one).count == pack.catalog.pieceRange(other).count
                    && !pack.catalog.digestBytes(one).elementsEqual(pack.catalog.digestBytes(other))
            })
        let new = try place.folder.makeFolder("new")
        let writer = try await TreeWriter(of: pack, into: Folder(opening: new), .readOnly)
        let ciphertext = try pack.ciphertext(ofPiece: one)
        await expectError(.corrupt, "piece \(other)") { try writer.open(ciphertext.span, asPieces: [other]) }
        await expectError(.corrupt, "piece \(other)") {
            try writer.open(ciphertext.span, asPieces: [one, other])
        }
        #expect(!writer.has(piece: other) && writer.has(piece: one))
    }
}
