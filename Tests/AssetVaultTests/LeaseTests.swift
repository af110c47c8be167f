import AssetVault
import Glibc
import TestFiles
import Testing
import VaultFileSystem

/// A version in use is kept, whatever others do, and removed when nobody uses it.
@Suite struct LeaseTests {
    private let world: World
    private let map: EntryPath

    init() async throws {
        world = try await World()
        map = try EntryPath("map.json")
        try await world.publish(["map.json": Array("old".utf8), "deep/a.bin": noise(300_000, seed: 1)])
    }

    @Test(arguments: [PackForm.opened, .sealed]) func aVersionInUseStays(form: PackForm) async throws {
        let reading = try await world.fetched(form)
        var lease: HeldPack? = try await reading.store.held(.one)
        let old = try world.place.staged()
        try await world.publish(["map.json": Array("new".utf8)])
        let updating = try await world.fetched(form)
        _ = try await updating.fetch()

        let held = try #require(lease)
        #expect(held.isEnforced && held.version == 1 && held.form == form)
        #expect(try await held.bytes("map.json") == Array("old".utf8))
        #expect(try await held.bytes("deep/a.bin") == noise(300_000, seed: 1))
        for client in [reading, updating] {
            #expect(try await client.store.contents(of: map, in: .one) == Array("new".utf8))
            #expect(try await client.store.held(.one).version == 2)
        }
        #expect(try Set(world.place.staged()).isSuperset(of: old))

        _ = consume held
        lease = nil
        _ = try await updating.fetch()
        #expect(try Set(world.place.staged()).isDisjoint(with: old))
        #expect(try world.place.staged().count == 2)
        #expect(lease == nil)
    }

    @Test(arguments: [PackForm.opened, .sealed]) func aReaderKeepsItsVersion(form: PackForm) async throws {
        let client = try await world.fetched(form)
        let reader = try await client.store.reader(of: EntryPath("deep/a.bin"), in: .one)
        try await world.publish(["map.json": Array("new".utf8)])
        _ = try await client.fetch()
        #expect(try world.place.staged().count == 4)
        #expect(try await reader.read(150_000..<300_000) == Array(noise(300_000, seed: 1)[150_000...]))
        #expect(await category { _ = try await client.store.reader(of: reader.path, in: .one) } == .missing)
    }

    @Test(arguments: ["opened", "sealed"]) func anotherProcessRemovesNothingInUse(form: String) async throws {
        let form = try #require(PackForm(rawValue: form))
        let client = try await world.fetched(form)
        let lease = try await client.store.held(.one)
        try await world.publish(["map.json": Array("new".utf8)])
        await #expect(processExitsWith: .success) {
            [place = world.place as Place, form = form.rawValue as String] in
            let client = try place.client(try #require(PackForm(rawValue: form)))
            _ = try await client.fetch()
            #expect(try place.staged().count == 4)
        }
        #expect(try await lease.bytes("map.json") == Array("old".utf8))
        #expect(try await client.store.contents(of: map, in: .one) == Array("new".utf8))
    }

    @Test(arguments: ["opened", "sealed"]) func aLeaseDiesWithItsProcess(form: String) async throws {
        let form = try #require(PackForm(rawValue: form))
        let client = try await world.fetched(form)
        try await world.publish(["map.json": Array("new".utf8)])
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [place = world.place as Place, form = form.rawValue as String] in
            let client = try place.client(try #require(PackForm(rawValue: form)))
            let lease = try await client.store.held(.one)
            _ = try await client.fetch()
            #expect(try place.staged().count == 4)
            kill(getpid(), SIGKILL)
            withExtendedLifetime(lease) {}
        }
        #expect(try world.place.staged().count == 4)
        _ = try await client.fetch()
        #expect(try world.place.staged().count == 2)
    }

    /// A reader that finds a version locked for removal uses the version that replaced it.
    @Test(arguments: [PackForm.opened, .sealed]) func aVersionBeingRemovedIsNotLeased(form: PackForm)
        async throws
    {
        let client = try await world.fetched(form)
        let lease = try await client.store.held(.one)
        try await world.publish(["map.json": Array("new".utf8)])
        _ = try await client.fetch()
        let current = try #require(try Folder(opening: world.place.home).readLink("current"))
        let old = try #require(lease.root.lastComponent?.string)
        let root = lease.root
        _ = consume lease
        let home = try Folder(opening: world.place.home)
        try home.replaceLink("current", target: FilePath(old))
        let tree = form == .opened ? try home.openFolder(old) : nil
        let file = form == .sealed ? try home.openFile(old) : nil
        let isTreeLocked = try tree?.tryLock(exclusive: true)
        let isFileLocked = try file?.tryLock(exclusive: true)
        #expect(isTreeLocked == true || isFileLocked == true)
        async let next = client.store.held(.one)
        // However far it has come: it can't have the version that is locked.
        try await Task.sleep(for: .milliseconds(20))
        try home.replaceLink("current", target: current)
        try FileSystem.removeTree(root)
        _ = consume tree
        _ = consume file
        #expect(try await next.version == 2)
    }

    @Test func unknownPacks() async throws {
        let client = try world.place.client(.opened)
        #expect(await category { _ = try await client.store.held(.one) } == .missing)
        _ = try await client.fetch()
        for id in ["levels", "levels/two", "levels/one/more"] {
            #expect(await category { _ = try await client.store.held(PackID(id)) } == .missing)
        }
        try Folder(opening: world.place.home).replaceLink("current", target: "../../../shared")
        #expect(await category { _ = try await client.store.held(.one) } == .corrupt)
        try Folder(opening: world.place.home).replaceLink("current", target: "@9-0123456789abcdef")
        #expect(await category { _ = try await client.store.held(.one) } == .missing)
    }
}
