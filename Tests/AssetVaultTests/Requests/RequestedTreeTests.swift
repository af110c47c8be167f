import Foundation
import SealedPack
import Testing

@testable import AssetVault

/// The packs in access are one tree of files.
@Suite(.timeLimit(.minutes(5))) struct RequestedTreeTests {
    /// Sealed packs are read as opened ones are, but they have no files.
    @Test func aSealedAndAnOpenedPack() async throws {
        let world = try await World.withLevels()
        let sealing = try world.client { $0.form = .sealed }
        _ = try await sealing.fetch(.only([PackID("game/level2.level3")]))
        let request = ResourceRequest(tags: ["level2"], of: try world.client { $0.form = nil })
        try await request.beginAccessing()
        let store = VaultStore(world.layout)
        #expect(try await store.held(PackID("game/level2")).form == .opened)
        #expect(try await store.held(PackID("game/level2.level3")).form == .sealed)
        for (path, bytes) in [
            ("levels/2/map", World.map(2)), ("textures/grass", World.texture),
        ] {
            let path = try EntryPath(path)
            #expect(try await request.contents(of: path) == bytes)
            let reader = try await request.reader(of: path)
            #expect(reader.size == bytes.count)
            #expect(try await reader.read(70_000..<70_100) == Array(bytes[70_000..<70_100]))
        }
        let url = try await request.url(forResource: EntryPath("levels/2/map"))
        #expect(try [UInt8](Data(contentsOf: url)) == World.map(2))
        #expect(
            await category { _ = try await request.url(forResource: EntryPath("textures/grass")) } == .usage)
    }

    /// Both packs have the path `noise`: the first one in the order of the site's list counts, whichever is named first.
    @Test func twoPacksWithOnePath() async throws {
        let world = try await World.withPacks()
        try await world.tag(["extras": ["first"], World.id: ["second"]])
        try await world.list(["extras": 2, World.id: 1])
        let client = try world.client()
        let path = try EntryPath("noise")
        for (tags, bytes) in [
            (["first", "second"], World.one), (["first"], World.extras),
            (["second"], World.one),
        ] as [([String], [UInt8])] {
            let request = ResourceRequest(tags: Set(tags), of: client)
            try await request.beginAccessing()
            #expect(try await request.contents(of: path) == bytes, "\(tags)")
            #expect(try await request.reader(of: path).size == bytes.count, "\(tags)")
            let url = try await request.url(forResource: path)
            #expect(try [UInt8](Data(contentsOf: url)) == bytes, "\(tags)")
        }
    }
}
