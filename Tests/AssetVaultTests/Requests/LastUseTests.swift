import FaultServer
import Sampling
import SealedPack
import Testing
import UpdateFramework
import VaultAuthoring
import VaultFileSystem

@testable import AssetVault

/// When packs were used last, and by whom, as the order says in which they go.
@Suite(.timeLimit(.minutes(5))) struct LastUseTests {
    let world: World
    let client: VaultClient
    private var layout: StoreLayout { world.layout }

    init() async throws {
        world = try await World.withLevels()
        client = try world.client()
    }

    /// Packs look as if they were used last at that time.
    private func setLastUse(_ packs: String..., to seconds: Int64) throws {
        for pack in packs {
            try Folder(opening: layout.home(of: PackID("game/" + pack))).setModified("current", to: seconds)
        }
    }

    private func lastUse(_ pack: String) throws -> Int64 {
        let home = try Folder(opening: layout.home(of: PackID("game/" + pack)))
        return LastUse(in: home).time?.secondsSince1970 ?? 0
    }

    private func peer() throws -> RequestPeer {
        try RequestPeer(of: world.server.url, layout, world.place.vault, limit: 1_000_000_000)
    }

    /// However early the access began: what was played until now goes last.
    @Test func theEndOfTheAccessCounts() async throws {
        let early = ResourceRequest(tags: ["level4"], of: client)
        let late = ResourceRequest(tags: ["level3"], of: client)
        try await early.beginAccessing()
        try setLastUse("level4", to: 1000)
        try await late.beginAccessing()
        late.endAccessing()
        try setLastUse("level3", "level2.level3", to: UTCTime.now.secondsSince1970 - 3600)
        early.endAccessing()
        #expect(try layout.purgeOrder() == ["level2.level3", "level3", "level4"])
    }

    @Test func theEndOfTheObjectCounts() async throws {
        do {
            let request = ResourceRequest(tags: ["level4"], of: client)
            try await request.beginAccessing()
            try setLastUse("level4", to: 1000)
        }
        // The last task of the request may still have it.
        try await wait(for: "its end") { try lastUse("level4") != 1000 }
    }

    /// To 10 seconds, each pack by itself.
    @Test func readsCount() async throws {
        let request = ResourceRequest(tags: ["level3"], of: client)
        try await request.beginAccessing()
        try setLastUse("level3", "level2.level3", to: 1000)
        _ = try await request.contents(of: EntryPath("textures/grass"))
        #expect(try lastUse("level2.level3") == 1000)
        try await Task.sleep(for: .seconds(10))
        _ = try await request.contents(of: EntryPath("textures/grass"))
        #expect(try lastUse("level2.level3") > 1000 && lastUse("level3") == 1000)
        _ = try await request.url(forResource: EntryPath("levels/3/map"))
        #expect(try lastUse("level3") > 1000)
    }

    /// It had its packs in access until it was killed, which is noticed once.
    @Test func theEndOfAKilledProcessCounts() async throws {
        let peer = try peer()
        #expect(await peer.ask("begin", "r", "level4").isOK)
        let request = ResourceRequest(tags: ["level3"], of: client)
        try await request.beginAccessing()
        request.endAccessing()
        try setLastUse("level4", to: 1000)
        try setLastUse("level3", "level2.level3", to: UTCTime.now.secondsSince1970 - 3600)
        await peer.kill()
        #expect(try layout.purgeOrder() == ["level2.level3", "level3", "level4"])
        try setLastUse("level4", to: 1000)
        #expect(try layout.purgeOrder() == ["level4", "level2.level3", "level3"])
    }

    /// Of packs that were used at the same time, those of processes that run go last.
    @Test func packsOfRunningProcessesGoLast() async throws {
        let (playing, leaving) = (try peer(), try peer())
        #expect(await playing.ask("begin", "r", "level3").isOK)
        #expect(await leaving.ask("begin", "r", "level4").isOK)
        #expect(await playing.ask("end", "r").isOK)
        #expect(await leaving.ask("end", "r").isOK)
        try setLastUse("level4", "level3", "level2.level3", to: 1000)
        #expect(try layout.purgeOrder() == ["level2.level3", "level3", "level4"])
        #expect(try layout.purgeablePacks().allSatisfy(\.isOfRunningProcess))
        await leaving.quit()
        #expect(try layout.purgeOrder() == ["level4", "level2.level3", "level3"])
        #expect(try layout.purgeablePacks().map(\.isOfRunningProcess) == [false, true, true])
        // When it was used last does not change by that.
        #expect(try lastUse("level4") == 1000)
        await playing.kill()
        #expect(try layout.purgeOrder() == ["level2.level3", "level3", "level4"])
    }
}
