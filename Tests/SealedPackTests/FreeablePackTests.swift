import Glibc
import SystemPackage
import TestFiles
import Testing
import VaultBase
import VaultCrypto
import VaultFileSystem

@testable import SealedPack

/// The pieces of a pack are freed while it is opened.
struct FreeablePackTests {
    private let place: PackPlace
    private let sealed: Sealed
    private let key: ContentKey
    private let tree: FilePath

    /// Long files of several pieces, and short ones that share a piece with others.
    private static let files: [String: [UInt8]] = [
        "long/one": noise(1_600_000, seed: 1), "long/two": noise(1_600_000, seed: 2),
        "short/a": noise(100, seed: 4), "short/b": noise(100, seed: 5), "empty": [],
    ]

    init() async throws {
        place = try PackPlace()
        key = try await TestKey().contentKey()
        sealed = try await seal(Source(files: Self.files), key: key)
        tree = try place.folder.makeFolder("tree")
    }

    private func pack() throws -> OpenPack {
        try place.open(sealed.bytes, as: sealed.manifest.json, with: key)
    }

    private func freeable(_ pack: OpenPack) throws -> FreeablePack {
        try FreeablePack(pack.pack, openedSize: pack.catalog.contentLength, at: place.path)
    }

    private func writer(_ pack: OpenPack) async throws -> TreeWriter {
        try await TreeWriter(of: pack, into: Folder(opening: tree), .readOnly)
    }

    private func expectContent() throws {
        for (path, bytes) in Self.files {
            let file = try OpenFile(reading: tree.appending(path))
            #expect(
                try file.readExactly(bytes.count, at: 0) == bytes && file.status().size == bytes.count,
                "\(path)")
        }
    }

    /// The pieces that the pack's file no longer has.
    private func freed(of pack: OpenPack) -> [Int] {
        (0..<Int(pack.pack.pieceCount)).filter { (try? pack.plaintext(ofPiece: $0)) == nil }
    }

    @Test func piecesAreFreed() async throws {
        let pack = try pack()
        let freeable = try freeable(pack)
        try await writer(pack).finish(freeing: freeable)
        try expectContent()
        let left = try pack.pack.file.dataLength
        #expect(left < 600_000, "\(left)")
        #expect(try pack.pack.file.status().size == sealed.bytes.count)
        // Index and catalog stay: the pack can still be opened.
        #expect(
            try self.freeable(OpenPack(PackFile(opening: place.path, as: nil), key: key)).room(for: 1) == 1)
    }

    /// A damaged piece ends it; what was freed is in the tree, and once the piece is there the rest follows.
    @Test func aDamagedPieceInTheMiddle() async throws {
        let pack = try pack()
        let damaged = Int(pack.pack.pieceCount) * 3 / 4
        let spot = try #require(pack.byteRanges(ofPieces: [damaged]).first?.lowerBound)
        let file = try OpenFile(updating: place.path)
        let sound = try file.readExactly(1, at: spot)
        try file.write([sound[0] ^ 1].span, at: spot)
        await expectError(.corrupt, "piece \(damaged)") {
            try await writer(pack).finish(freeing: try freeable(pack))
        }
        let freed = freed(of: pack).filter { $0 != damaged }
        #expect(freed.count > damaged / 2 && freed.allSatisfy { $0 < damaged })
        let begun = try await writer(pack)
        #expect(freed.allSatisfy { begun.has(piece: $0) } && !begun.has(piece: damaged))
        try file.write(sound.span, at: spot)
        try await begun.finish(freeing: try freeable(pack))
        try expectContent()
    }

    /// What could not be saved is written again; what was freed before stays.
    @Test func whatIsNotSavedIsRemoved() async throws {
        let pack = try pack()
        let damaged = Int(pack.pack.pieceCount) - 1
        try flipByte(at: try #require(pack.byteRanges(ofPieces: [damaged]).first?.lowerBound))
        let writer = try await writer(pack)
        await expectError { try await writer.finish(freeing: try freeable(pack)) }
        try writer.removeUnsaved()
        let freed = Set(freed(of: pack)).subtracting([damaged])
        let begun = try await self.writer(pack)
        #expect(!freed.isEmpty && freed == Set((0..<damaged).filter { begun.has(piece: $0) }))
        try flipByte(at: try #require(pack.byteRanges(ofPieces: [damaged]).first?.lowerBound))
        try await begun.finish()
        try expectContent()
    }

    /// The file that was opened is freed, and no other one that gets its name.
    @Test func anotherFileGetsTheName() async throws {
        let pack = try pack()
        let freeable = try freeable(pack)
        let other = place.folder.path.appending("other")
        try OpenFile(creating: other, permissions: 0o600).write(sealed.bytes.span, at: 0)
        try FileSystem.move(other, to: place.path, replacing: true)
        await expectError(.unwritable, "another file by now") { _ = try self.freeable(pack) }
        try await writer(pack).finish(freeing: freeable)
        try expectContent()
        #expect(try pack.pack.file.dataLength < 600_000)
        #expect(try OpenFile(reading: place.path).dataLength == sealed.bytes.count)
    }

    /// Somebody linked files of a tree that was begun, and pieces are nowhere else: a complete one stays, and for another one the link must
    /// go. Nothing is written into either.
    @Test func filesOfTheTreeThatGotOtherNames() async throws {
        let pack = try pack()
        let damaged = Int(pack.pack.pieceCount) * 3 / 4
        try flipByte(at: try #require(pack.byteRanges(ofPieces: [damaged]).first?.lowerBound))
        await expectError(.corrupt, "piece \(damaged)") {
            try await writer(pack).finish(freeing: try freeable(pack))
        }
        try flipByte(at: try #require(pack.byteRanges(ofPieces: [damaged]).first?.lowerBound))
        let links = try Folder(opening: place.folder.path)
        let long = try Folder(opening: tree.appending("long"))
        for name in ["one", "two"] { try long.link(name, into: links, as: name) }
        let before = try OpenFile(reading: tree.appending("long/two")).sha256()
        await expectError(.unwritable, "another name") { _ = try await writer(pack) }
        #expect(try OpenFile(reading: tree.appending("long/two")).sha256() == before)
        try links.unlink("two")
        try await writer(pack).finish(freeing: try freeable(pack))
        try expectContent()
        #expect(
            try OpenFile(reading: place.folder.path.appending("one")).readAll(limit: .max)
                == Self.files["long/one"])
        #expect(try OpenFile(reading: tree.appending("long/one")).status().permissions == 0o444)
    }

    private func flipByte(at spot: UInt64) throws {
        let file = try OpenFile(updating: place.path)
        try file.write([file.readExactly(1, at: spot)[0] ^ 1].span, at: spot)
    }

    /// What others may need is refused, and stays as it is.
    @Test func refusals() async throws {
        let pack = try pack()
        func expectRefusal(_ words: String, _ other: FilePath? = nil) async throws {
            await expectError(.unwritable, words) {
                _ = try FreeablePack(pack.pack, openedSize: 1, at: other ?? place.path)
            }
        }
        let other = place.folder.path.appending("other")
        try await expectRefusal("not a file", other)
        try Folder(opening: place.folder.path).link("pack.avpack", as: "other")
        try await expectRefusal("other names")
        try FileSystem.removeFile(other)
        let places = PiecePlaces.path(beside: place.path)
        _ = try OpenFile(creating: places, permissions: 0o600)
        try await expectRefusal("rests on other files")
        try FileSystem.removeFile(places)
        if geteuid() == 0 {
            #expect(unsafe chown(place.path.string, 1, 1) == 0)
            try await expectRefusal("another user's")
            #expect(unsafe chown(place.path.string, 0, 0) == 0)
            // What another user says that the pack rests on.
            _ = try OpenFile(creating: places, permissions: 0o600)
            #expect(unsafe chown(places.string, 1, 1) == 0)
        }
        #expect(try freeable(pack).file.file.readAll(limit: .max) == sealed.bytes)
    }

    /// The room is that of the opened pack and a few pieces, less what is freed. With a small pack nothing is gained.
    @Test func room() async throws {
        let small = try freeable(pack())
        #expect(try small.room(for: 3_000_000) == 3_000_000)
        let large = try await seal(Source(files: ["large": noise(16_000_000, seed: 6)]), key: key)
        let room = try freeable(place.open(large.bytes, as: large.manifest.json, with: key)).room(
            for: 16_000_000)
        // Sealed pieces are somewhat larger.
        let few: UInt64 = 2_000_000 + (8 << 20)
        #expect((few - 40_000)...few ~= room, "\(room)")
    }
}
