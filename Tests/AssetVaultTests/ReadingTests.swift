import AssetVault
import Glibc
import Sampling
import Synchronization
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultFileSystem

/// Reading returns the sealed content, or an error.
@Suite struct ReadingTests {
    private let world: World
    private let large = noise(1_200_000, seed: 7)
    private let bin: EntryPath

    init() async throws {
        world = try await World()
        bin = try EntryPath("deep/large.bin")
        try await world.publish([
            "deep/large.bin": large, "empty": [], "map.json": World.secret,
            "other.bin": noise(500_000, seed: 8),
        ])
    }

    @Test(arguments: [PackForm.opened, .sealed]) func concurrentRangeReads(form: PackForm) async throws {
        let client = try await world.fetched(form)
        let reader = try await client.store.reader(of: bin, in: .one)
        #expect(reader.size == UInt64(large.count))
        try await withThrowingTaskGroup { group in
            for task in 0..<8 {
                group.addTask { [large] in
                    var random = SeededGenerator(for: "anyRangeByManyTasks \(form) \(task)")
                    for _ in 0..<8 {
                        let longest = Bool.random(using: &random) ? 5_000 : 400_000
                        let length = Int.random(in: 0...longest, using: &random)
                        let start = Int.random(in: 0...(large.count - length), using: &random)
                        let bytes = try await reader.read(UInt64(start)..<UInt64(start + length))
                        #expect(bytes == Array(large[start..<(start + length)]))
                    }
                }
            }
            try await group.waitForAll()
        }
        var joined: [UInt8] = []
        while joined.count < large.count {
            let end = min(joined.count + 30_011, large.count)
            joined += try await reader.read(UInt64(joined.count)..<UInt64(end))
        }
        #expect(joined == large)
        #expect(try await client.store.contents(of: bin, in: .one) == large)
        #expect(try await client.store.contents(of: EntryPath("empty"), in: .one) == [])
        #expect(try await client.store.contents(of: EntryPath("map.json"), in: .one) == World.secret)
    }

    @Test(arguments: [PackForm.opened, .sealed]) func beyondTheEnd(form: PackForm) async throws {
        let client = try await world.fetched(form)
        let reader = try await client.store.reader(of: bin, in: .one)
        #expect(try await reader.read(reader.size..<reader.size) == [])
        let end = reader.size + 1
        let beyond: [Range<UInt64>] = [0..<end, end..<end, 0..<(.max), (.max - 1)..<(.max)]
        for range in beyond {
            #expect(await category { _ = try await reader.read(range) } == .usage)
        }
    }

    @Test(arguments: [PackForm.opened, .sealed]) func unknownFiles(form: PackForm) async throws {
        let client = try await world.fetched(form)
        for path in ["no", "deep", "deep/no", "map.json/no", "deep/large.bin/no", "current", "@lock"] {
            let path = try EntryPath(path)
            #expect(await category { _ = try await client.store.contents(of: path, in: .one) } == .missing)
            #expect(await category { _ = try await client.store.reader(of: path, in: .one) } == .missing)
            #expect(
                await category { _ = try await client.store.fileDescriptor(of: path, in: .one) } == .missing)
        }
        #expect(
            await category { _ = try await client.store.contents(of: bin, in: PackID("two")) } == .missing)
    }

    @Test func missingAndWrongKeysFail() async throws {
        _ = try await world.fetched(.sealed)
        for keys: (any KeyProvider)? in [nil, InMemoryKeyProvider(KeyRing())] {
            let store = VaultStore(world.layout, keys: keys)
            for _ in 0..<2 {
                #expect(await category { _ = try await store.contents(of: bin, in: .one) } == .key)
                #expect(await category { _ = try await store.fileDescriptor(of: bin, in: .one) } == .key)
            }
        }
    }

    @Test func plantedLinksAreRefused() async throws {
        let client = try await world.fetched(.opened)
        let lease = try await client.store.held(.one)
        let outside = world.place.vault.keys
        let tree = try Folder(opening: lease.root)
        try tree.symlink("file", target: world.place.vault.vaultKeys)
        try tree.symlink("folder", target: outside)
        for path in ["file", "folder/vault.jwks", "folder"] {
            let path = try EntryPath(path)
            #expect(await category { _ = try await client.store.contents(of: path, in: .one) } == .corrupt)
            #expect(
                await category { _ = try await client.store.fileDescriptor(of: path, in: .one) } == .corrupt)
            #expect(await category { _ = try await client.store.url(for: path, in: .one) } == .corrupt)
        }
    }

    @Test func damagedPiece() async throws {
        let client = try await world.fetched(.sealed)
        let lease = try await client.store.held(.one)
        try flipByte(of: lease.root, at: 700_000)
        #expect(await category { _ = try await client.store.contents(of: bin, in: .one) } == .corrupt)
        #expect(await category { _ = try await client.store.fileDescriptor(of: bin, in: .one) } == .corrupt)
        let reader = try await client.store.reader(of: bin, in: .one)
        #expect(await category { _ = try await reader.read(0..<reader.size) } == .corrupt)
        #expect(try await reader.read(0..<1_000) == Array(large[0..<1_000]))
        // The same bytes again are right again.
        try flipByte(of: lease.root, at: 700_000)
        #expect(try await reader.read(0..<reader.size) == large)
    }

    /// Damage that leaves the file's time as it was, as that of a disk does, is repaired by the fetch after the read that met it.
    @Test(arguments: ["contents", "descriptor", "catalog"]) func damageIsRepairedByTheNextFetch(
        metBy read: String
    ) async throws {
        let client = try await world.fetched(.sealed)
        let path = try await client.store.held(.one).root
        let sound = try DurableFile.read(path, limit: 1 << 28)
        let modified = try #require(try FileSystem.status(of: path)).modified
        try flipByte(of: path, at: read == "catalog" ? UInt64(sound.count) - 100 : 700_000)
        let time = timespec(
            tv_sec: Int(modified / 1_000_000_000), tv_nsec: Int(modified % 1_000_000_000))
        let restored = unsafe utimensat(AT_FDCWD, path.string, [time, time], 0)
        try #require(restored == 0)
        _ = try await world.fetched(.sealed)
        try #require(try DurableFile.read(path, limit: 1 << 28) != sound, "nobody met it yet")
        let reader = world.place.store()
        let found = await category {
            switch read {
            case "contents": _ = try await reader.contents(of: bin, in: .one)
            case "descriptor": try await reader.fileDescriptor(of: bin, in: .one).close()
            default: _ = try await reader.entries(in: .one)
            }
        }
        #expect(found == .corrupt)
        _ = try await world.fetched(.sealed)
        #expect(try DurableFile.read(path, limit: 1 << 28) == sound)
        #expect(try await reader.contents(of: bin, in: .one) == large)
    }

    /// Neither a pack's catalog nor the last piece is read twice.
    @Test func catalogAndLastPieceAreCached() async throws {
        let client = try await world.fetched(.sealed)
        let lease = try await client.store.held(.one)
        let reader = try await client.store.reader(of: bin, in: .one)
        #expect(try await reader.read(10..<20) == Array(large[10..<20]))
        let length = try #require(try FileSystem.status(of: lease.root)).size
        let file = try OpenFile(updating: lease.root)
        let whole = try file.readAll(limit: .max)
        try file.write([UInt8](repeating: 0, count: Int(length)).span, at: 0)
        #expect(try await reader.read(12..<1_000) == Array(large[12..<1_000]))
        #expect(await category { _ = try await reader.read(1_100_000..<1_100_001) } == .corrupt)
        #expect(try await lease.reader("other.bin").size == 500_000)
        #expect(await category { _ = try await world.place.store().contents(of: bin, in: .one) } == .corrupt)
        try file.write(whole.span, at: 0)
        #expect(try await client.store.contents(of: bin, in: .one) == large)
    }

    @Test func aPackIsOpenedOnceByManyTasks() async throws {
        _ = try await world.fetched(.sealed)
        let keys = CountedKeys(world.place.keys)
        let store = VaultStore(world.layout, keys: keys)
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 {
                group.addTask {
                    let bytes = try await store.contents(of: EntryPath("map.json"), in: .one)
                    #expect(bytes == World.secret)
                }
            }
            try await group.waitForAll()
        }
        let first = keys.count
        #expect(first > 0 && first <= 2)
        try await world.publish(["map.json": [1]])
        _ = try await world.place.client(.sealed).fetch()
        #expect(try await store.contents(of: EntryPath("map.json"), in: .one) == [1])
        #expect(keys.count == 2 * first)
    }
}

/// Counts the requests.
private final class CountedKeys: KeyProvider {
    private let keys: any KeyProvider
    private let asked = Mutex(0)
    var count: Int { asked.withLock { $0 } }

    init(_ keys: any KeyProvider) { self.keys = keys }

    func keys(for id: KeyID) async throws(VaultError) -> KeyRing {
        asked.withLock { $0 += 1 }
        return try await keys.keys(for: id)
    }
}
