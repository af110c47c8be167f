import AssetVault
import SealedPack
import Testing
import VaultBase
import VaultFileSystem

/// A downloader of the same user keeps a pack's file open that is renamed into permanent storage: later writes are
/// never read as the pack's.
@Suite struct KeptFileDescriptorTests {
    private let world: World
    private let path: EntryPath

    init() async throws {
        world = try await World.withPacks()
        path = try EntryPath("noise")
    }

    @Test(arguments: [0, 1, 2]) func laterWritesAreNeverRead(third: UInt64) async throws {
        _ = try await world.client(keys: false).fetch()
        let folder = world.layout.shared.appending("packs").appending("levels").appending("one")
        let name = try #require(try names(in: folder).first { $0.hasSuffix(".avpack") })
        let kept = try OpenFile(updating: folder.appending(name))
        let client = try world.client { $0.form = .sealed }
        _ = try await client.fetch()
        let place = try client.store.path(of: .one)
        #expect(try FileSystem.status(of: place, followingLinks: true)?.isSameFile(as: kept.status()) == true)
        let reader = try await client.store.reader(of: path, in: .one)
        #expect(try await client.store.contents(of: path, in: .one) == World.one)

        let offset = third * 300_000 + 1_000
        let changed = try kept.readExactly(64, at: offset).map { $0 ^ 0xff }
        try kept.write(changed.span, at: offset)
        // By a reader that was there before, by one that is made now, and by another process.
        #expect(await category { _ = try await reader.read(0..<reader.size) } == .corrupt)
        #expect(await category { _ = try await client.store.contents(of: path, in: .one) } == .corrupt)
        let other = world.place.store()
        #expect(await category { _ = try await other.contents(of: path, in: .one) } == .corrupt)
        guard case .damaged = try await other.verify([.one]).first?.finding else {
            Issue.record("the change was not found")
            return
        }
        #expect(try await client.repair([.one]) == [.one])
        #expect(try await client.store.contents(of: path, in: .one) == World.one)
        #expect(try await other.verify([.one]).map(\.finding) == [.sound])
        // The sound file is another one.
        try kept.write(changed.span, at: offset)
        #expect(try await client.store.contents(of: path, in: .one) == World.one)
    }
}
