import AssetVault
import FaultServer
import Glibc
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem

@testable import SealedPack

/// An update of an opened pack rests on the tree of the version before.
@Suite(.timeLimit(.minutes(5))) struct OpenedUpdateTests {
    let pack: ChangedPack
    private var world: World { pack.world }
    private let one = PackID.one

    init() async throws { pack = try await ChangedPack() }

    @Test func anOpenedTreeIsReused() async throws {
        let client = try pack.client(.opened)
        let first = try await pack.sent(by: client)
        #expect(first > 700_000)
        let cost = try await pack.publishSecond(to: client, reusing: pack.hosted(client))
        #expect(try await client.costs().map(\.cost) == [cost])
        let second = try await pack.sent(by: client)
        #expect(UInt64(second) == cost.bytes)
        #expect(cost.bytes < 120_000)
        try await pack.expectContent(2, client)
        // The tree, its manifest, and what the next update needs.
        let root = try await client.store.held(one).root
        #expect(try FileSystem.exists(FilePath(root.string + ".tail")))
        #expect(try world.place.staged().count == 2)
        try await pack.publish(3)
        #expect(try await pack.sent(by: client) < 120_000)
        try await pack.expectContent(3, client)
        try await client.remove(one)
        #expect(try world.place.staged() == [])
    }

    /// With any compression, which is not recorded anywhere.
    @Test(arguments: Compression.allCases) func anyCompression(_ compression: Compression) async throws {
        let client = try pack.client(.opened)
        try await world.publish(ChangedPack.files(1), as: "levels/other", compression)
        _ = try await pack.sent(by: client)
        try await world.publish(ChangedPack.files(2), as: "levels/other", compression)
        let reported = try await client.costs().reduce(0) { $0 + $1.cost.bytes }
        #expect(UInt64(try await pack.sent(by: client)) == reported)
        #expect(reported < 120_000)
    }

    /// Only files that changed are written; who holds the earlier version still reads it.
    @Test func unchangedFilesAreLinked() async throws {
        let client = try pack.client(.opened)
        _ = try await client.fetch()
        try await pack.publish(2)
        let before = try await client.store.held(one)
        _ = try await client.fetch()
        let after = try await client.store.held(one)
        #expect(before.root != after.root)
        var linked: Set<String> = []
        for name in ChangedPack.files(2).keys
        where try Self.isSameFile(before.root.appending(name), after.root.appending(name)) {
            linked.insert(name)
        }
        // The pieces at its ends have a part of its neighbours.
        #expect(
            linked.isSuperset(of: ["file 0", "file 1", "file 2", "file 6", "file 7", "file 8", "file 9"]))
        #expect(!linked.contains("file 4"))
        for (name, bytes) in ChangedPack.files(1) {
            #expect(try await before.bytes(name) == bytes, "\(name)")
        }
        try await pack.expectContent(2, client)
    }

    private static func isSameFile(_ one: FilePath, _ other: FilePath) throws -> Bool {
        guard let one = try FileSystem.status(of: one) else { return false }
        return try FileSystem.status(of: other)?.isSameFile(as: one) == true
    }

    /// Changed files are not reused, and that is known before.
    @Test(arguments: ["file 2", "file 9"]) func aChangedFile(name: String) async throws {
        let client = try pack.client(.opened)
        _ = try await client.fetch()
        try flipByte(of: try await client.store.held(one).root.appending(name), at: 100)
        let least = Int(try await pack.publishSecond(to: client, reusing: pack.hosted(client)).bytes)
        let cost = try await client.costs().reduce(0) { $0 + Int($1.cost.bytes) }
        let sent = try await pack.sent(by: client)
        // A piece more.
        #expect(sent > least + 10_000 && sent < least + 150_000 && sent == cost, "\(sent)")
        try await pack.expectContent(2, client)
    }

    /// A file whose bytes rotted, and whose time and size did not change: what was left out of the download is fetched after all, and
    /// nothing of the file reaches the new version.
    @Test func aFileThatChangedUnseen() async throws {
        let client = try pack.client(.opened)
        var long = noise(600_000, seed: 9)
        try await world.publish(["long": long, "short": [1]])
        _ = try await client.fetch()
        let file = try await client.store.held(one).root.appending("long")
        try flipByteUnseen(of: file)
        long[599_999] ^= 1
        try await world.publish(["long": long, "short": [1]])
        let cost = try await client.costs().reduce(0) { $0 + Int($1.cost.bytes) }
        let sent = try await pack.sent(by: client)
        let first = try PieceRanges(of: try await pack.hosted(client))[0]
        #expect(sent == cost + first.count)
        #expect(try await client.store.contents(of: EntryPath("long"), in: one) == long)
        #expect(try await client.store.verify().map(\.finding) == [.sound])
        #expect(try names(in: world.layout.ephemeral).isEmpty)
    }

    /// `UTIME_OMIT`.
    private static let keepsTime = (1 << 30) - 2

    /// Changes the first byte, and gives the file its time back.
    private func flipByteUnseen(of path: FilePath) throws {
        let before = try FileSystem.status(of: path)
        var status = stat()
        #expect(unsafe stat(path.string, &status) == 0)
        try flipByte(of: path, at: 0)
        let times = [timespec(tv_sec: 0, tv_nsec: Self.keepsTime), status.st_mtim]
        #expect(unsafe utimensat(AT_FDCWD, path.string, times, 0) == 0)
        #expect(try FileSystem.status(of: path)?.modified == before?.modified)
    }

    /// Missing files or a missing tail are not reused.
    @Test(arguments: [true, false]) func missingFiles(isTail: Bool) async throws {
        let client = try pack.client(.opened)
        _ = try await client.fetch()
        let root = try await client.store.held(one).root
        if isTail {
            try flipByte(
                of: FilePath(root.string + ".tail"), at: try await client.pack(withID: one).length - 300)
        } else {
            try FileSystem.removeFile(root.appending("file 5"))
        }
        try await pack.publish(2)
        let sent = try await pack.sent(by: client)
        #expect(isTail ? sent > 700_000 : sent > 120_000 && sent < 300_000, "\(sent)")
        try await pack.expectContent(2, client)
    }

    private func arrivingTrees() throws -> [FilePath] {
        try names(in: world.place.home).filter { $0.hasSuffix(".arriving") }.map {
            world.place.home.appending($0)
        }
    }

    /// What was opened of a superseded version is reused, and is gone afterwards.
    @Test func anEarlierArrivingTree() async throws {
        let arrived = try await pack.interruptHalfway()
        #expect(try arrivingTrees().count == 1)
        let client = try pack.client(.opened)
        let cost = try await pack.publishSecond(to: client, reusing: arrived)
        #expect(UInt64(try await pack.sent(by: client)) == cost.bytes)
        #expect(cost.reusedPieces > 0)
        try await pack.expectContent(2, client)
        #expect(try arrivingTrees() == [])
        #expect(try names(in: world.layout.ephemeral).isEmpty)
    }

    /// A process that died after it had written a piece, and before it had written the equal one.
    @Test func aCopyThatWasNotWritten() async throws {
        let (same, other) = (noise(400_000, seed: 21), noise(400_000, seed: 22))
        let files = ["a": same, "b": same, "c": other]
        try await world.publish(files)
        // All that is requested of the first two.
        try await pack.interrupt(after: .max)
        let tree = try #require(try arrivingTrees().first)
        #expect(try FileSystem.status(of: tree.appending("a")) != nil)
        try FileSystem.removeFile(tree.appending("b"))
        let client = try pack.client(.opened)
        _ = try await client.fetch()
        try await client.expect(files, in: one)
    }
}
