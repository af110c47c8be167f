import AssetVault
import FoundationEssentials
import Glibc
import Testing
import VaultFileSystem

/// File descriptors and URLs, for code that needs files.
@Suite struct FileDescriptorTests {
    private let world: World
    private let large: EntryPath
    /// The secret is in every piece.
    private let bytes = Array(repeatElement(World.secret, count: 20_000).joined())

    init() async throws {
        world = try await World()
        large = try EntryPath("deep/large.txt")
        try await world.publish(["deep/large.txt": bytes])
    }

    @Test func memoryOfASealedPack() async throws {
        let client = try await world.fetched(.sealed)
        let before = try world.place.files()
        let file = try await client.store.fileDescriptor(of: large, in: .one)
        #expect(try file.seek(offset: 0, from: .current) == 0)
        #expect(try OpenFile(duplicating: file.rawValue, named: "memory").readAll(limit: .max) == bytes)
        #expect(throws: Errno.notPermitted) { try file.writeAll(toAbsoluteOffset: 0, [1]) }
        #expect(throws: Errno.notPermitted) {
            try file.writeAll(toAbsoluteOffset: Int64(bytes.count), [1])
        }
        for length in [0, bytes.count + 1] {
            #expect(ftruncate(file.rawValue, length) == -1)
        }
        #expect(fcntl(file.rawValue, F_GETFD) & FD_CLOEXEC != 0)
        // F_GET_SEALS; the lowest four are for good, against less, against more, against writing.
        #expect(fcntl(file.rawValue, 1034) & 0xf == 0xf)
        try file.close()
        #expect(try world.place.files() == before)
    }

    @Test func noPlaintextOnDisk() async throws {
        let client = try await world.fetched(.sealed)
        _ = try await client.store.contents(of: large, in: .one)
        _ = try await client.store.reader(of: large, in: .one).read(0..<300_000)
        let file = try await client.store.fileDescriptor(of: large, in: .one)
        for (path, content) in try world.place.files() {
            #expect(!content.contains(World.secret), "\(path)")
        }
        try file.close()
        // The look-up works: the same in plain is found.
        _ = try await world.fetched(.opened)
        #expect(try world.place.files().values.contains { $0.contains(World.secret) })
    }

    @Test func fileOfAnOpenedPack() async throws {
        let client = try await world.fetched(.opened)
        let file = try await client.store.fileDescriptor(of: large, in: .one)
        try await world.publish(["deep/large.txt": [1]])
        _ = try await client.fetch()
        _ = try await client.fetch()
        #expect(try OpenFile(duplicating: file.rawValue, named: "file").readAll(limit: .max) == bytes)
        #expect(throws: Errno.badFileDescriptor) { try file.writeAll([1]) }
        try file.close()
    }

    @Test func urlsOfAnOpenedPack() async throws {
        var client: VaultClient? = try await world.fetched(.opened)
        let url = try #require(try await client?.store.url(for: large, in: .one))
        #expect(url.isFileURL && url.path.hasSuffix("/deep/large.txt"))
        try await world.publish(["deep/large.txt": [1]])
        let updating = try await world.fetched(.opened)
        #expect(try DurableFile.read(FilePath(url.path), limit: .max) == bytes)
        let newer = try #require(try await client?.store.url(for: large, in: .one))
        #expect(try DurableFile.read(FilePath(newer.path), limit: .max) == [1])
        client = nil
        _ = try await updating.fetch()
        #expect(try !FileSystem.exists(FilePath(url.path)))
        #expect(try DurableFile.read(FilePath(newer.path), limit: .max) == [1])
        #expect(client == nil)
    }

    @Test func noURLsOfASealedPack() async throws {
        let client = try await world.fetched(.sealed)
        #expect(await category { _ = try await client.store.url(for: large, in: .one) } == .usage)
    }
}

extension [UInt8] {
    /// Whether `other` stands somewhere in it.
    fileprivate func contains(_ other: [UInt8]) -> Bool {
        guard let first = other.first, count >= other.count else { return false }
        return indices.dropLast(other.count - 1).contains {
            self[$0] == first && self[$0..<($0 + other.count)].elementsEqual(other)
        }
    }
}
