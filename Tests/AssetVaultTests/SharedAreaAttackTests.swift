import FaultServer
import Glibc
import SealedPack
import SystemPackage
import Testing
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultFileSystem

@testable import AssetVault

/// What a downloader that was taken over may put into `shared/`: it stops neither role, and decides nothing.
@Suite(.timeLimit(.minutes(5))) struct SharedAreaAttackTests {
    let world: World
    private var layout: StoreLayout { world.layout }

    init() async throws { world = try await World.withPacks() }

    private func fill(_ path: FilePath, _ bytes: [UInt8], length: UInt64? = nil) throws {
        try FileSystem.createFolders(path.removingLastComponent(), permissions: 0o700)
        let file = try OpenFile(creating: path, permissions: 0o600)
        try file.write(bytes.span, at: 0)
        if let length { try file.truncate(to: length) }
    }

    /// A chain of folders, made step by step: its path is longer than a path may be.
    private func makeDeepFolders(below path: FilePath) throws {
        try FileSystem.createFolders(path, permissions: 0o700)
        var folder = unsafe open(path.string, O_DIRECTORY)
        for _ in 0..<15_000 {
            try unsafe #require(mkdirat(folder, "a", 0o700) == 0)
            let next = unsafe openat(folder, "a", O_DIRECTORY)
            try #require(close(folder) == 0)
            folder = next
        }
        try #require(close(folder) == 0)
    }

    /// The marks of processes that died make both roles look at all folders.
    @Test func deepFolders() async throws {
        let places = [layout.packs, layout.states(of: .downloader), layout.packs.appending("extras")]
        for path in places { try makeDeepFolders(below: path) }
        for role in StoreRole.allCases { try fill(layout.work(of: role).appending("mark"), []) }
        #expect(try await world.downloader().run(.install).firstError == nil)
        let client = try world.client()
        _ = try await client.fetch()
        #expect(try await client.store.status(of: .one).state == .loaded)
        #expect(try await client.store.usage().packs.contains { $0.id.description == World.id })
        for path in places { try FileSystem.removeTree(path.appending("a")) }
    }

    /// Parsed, JSON takes many times its size.
    @Test func largeFiles() async throws {
        let pack = try await world.client().pack(withID: .one)
        let place = PackManifestFile.path(beside: layout.waitingPack(pack))
        let bytes = PackManifestFile.bytes(of: pack)
        for limit in [StoreArea.FileKind.manifest.limit, StoreArea.FileKind.manifest.limit + 1] {
            try? FileSystem.removeFile(place)
            try fill(place, bytes + Array(repeating: UInt8(ascii: " "), count: limit - bytes.count))
            let isRead = await category { _ = try layout.sharedArea.manifest(place) } == nil
            #expect(isRead == (limit == StoreArea.FileKind.manifest.limit))
        }
        try? FileSystem.removeFile(place)
        try fill(place, Array("[".utf8), length: 1 << 40)
        try fill(layout.recordPath(of: .one, in: .downloader), Array("[".utf8), length: 1 << 40)
        #expect(try await world.downloader().run(.install).firstError == nil)
        _ = try await world.client().fetch()
        #expect(try await world.client().store.status(of: .one).state == .loaded)
    }

    /// Three lengths whose sum is none. They use up no allowance.
    @Test func sparseMetadata() async throws {
        try await world.declare(["levels/one": "essential"])
        for name in ["a.json", "b.json", "c.json"] {
            try fill(layout.trust(of: .downloader).appending(name), [], length: UInt64(Int64.max))
        }
        let report = try await world.downloader { $0.policy.essentialDownloadAllowance = 1 << 20 }.run(
            .install)
        #expect(report.firstError == nil && report.refusals.isEmpty)
        #expect(try await world.client().store.status(of: .one).state == .toBeTransferred)
    }

    @Test func forgedTraffic() async throws {
        _ = try await world.client().fetch()
        let honest = try await world.client().store.traffic()
        var lines: [UInt8] = []
        var number = 0
        while lines.count < 1 << 20 {
            lines += Array("1 metered x.\(number)\n".utf8)
            number += 1
        }
        for age in 0..<TrafficLog.keptDays {
            let day = String(UTCTime.now.adding(days: -age).description.prefix(10))
            try fill(layout.traffic(of: .downloader).appending(day), lines)
        }
        let usage = try await world.client().store.traffic()
        #expect(usage.packs.count <= 1 << 15 + honest.packs.count)
        #expect(usage.days.count <= 9)
        for (id, bytes) in honest.packs { #expect(usage.packs[id] == bytes) }
    }

    /// A pack counts that the metadata list, whatever stands beside a file.
    @Test func forgedManifests() async throws {
        let client = try world.client()
        _ = try await client.fetch()
        let pack = try await client.pack(withID: .one)
        let digest = SHA256.hash(Array("forged".utf8).span).hex
        for id in [pack.id, try PackID("forged/pack")] {
            var json = String(decoding: PackManifestFile.bytes(of: pack), as: UTF8.self)
            json = json.replacing(pack.sha256.hex, with: digest).replacing(
                "\"\(pack.id)\"", with: "\"\(id)\""
            ).replacing("\"version\": 1", with: "\"version\": 9")
            let forged = layout.waiting(of: id).appending("@\(digest).avpack")
            try fill(forged, [], length: pack.length)
            try fill(PackManifestFile.path(beside: forged), Array(json.utf8))
        }
        let forged = try #require(
            try layout.sharedArea.manifest(layout.waiting(of: pack.id).appending("@\(digest).avpack.json")))
        #expect(forged.version == 9 && forged.id == pack.id)
        #expect(try await client.store.status(of: .one).waitingVersion == nil)
        #expect(try await client.store.status().allSatisfy { $0.waitingVersion == nil })
        let usage = try await client.store.usage()
        #expect(!usage.packs.contains { $0.id.description.hasPrefix("forged") })
        #expect(try await !client.store.status().contains { $0.id.description.hasPrefix("forged") })
    }

    /// Records of packs that nobody lists are read within one budget: what is beyond it does not count.
    @Test func manyRecords() async throws {
        let listed = try await world.client().pack(withID: .one)
        let forged = try #require(PackRecord().after(.downloadBegan(listed, listedBy: ListingVersion())))
        let last = try PackID("z/last")
        try PackRecords(layout: layout, role: .downloader).save(forged, of: last)
        try fill(layout.partialDownload(of: listed), [1])
        let inventory = StoreAccess(layout: layout, role: .app).inventory
        func isFound() async throws -> Bool {
            try await inventory.storedPacks(for: [], as: .opened, listedBy: ListingVersion()).contains {
                $0.partial == listed
            }
        }
        #expect(try await isFound())
        let records = StoreArea.Budget().bytes / StoreArea.FileKind.record.limit
        for number in 0..<records {
            let path = layout.recordPath(of: try PackID("a/\(number)"), in: .downloader)
            try fill(path, [], length: UInt64(StoreArea.FileKind.record.limit))
            try fill(layout.waiting(of: try PackID("a/\(number)")).appending("@x"), [])
        }
        #expect(try await !isFound())
    }

    /// Folders in shared storage are not packs that wait, whatever they are called.
    @Test func foldersOfNoPack() async throws {
        _ = try await world.downloader().run(.install)
        for number in 0..<100 { try fill(layout.packs.appending("z/\(number)/@x"), []) }
        let store = StoreAccess(layout: layout, role: .app)
        var stager = PackStager(
            store: store, network: NetworkGate(FileTransport(), in: store), keys: world.place.keys
        ) { _ in }
        // Without any metadata a few are looked at, for the error that is reported.
        #expect(try await stager.unopenedIDs(among: nil).count < 100)
        let site = StoredSite(store: store, trustedRoot: try world.configuration().trustedRoot)
        stager.storedView = try await site.view(listing: [:])
        let found = try await stager.unopenedIDs(among: nil)
        #expect(found.map(\.description) == ["levels/one"])
    }

    /// A link in the way leads nowhere.
    @Test func linksAreNotFollowed() async throws {
        _ = try await world.client().fetch()
        let state = layout.recordPath(of: .one, in: .downloader).removingLastComponent()
        try FileSystem.createFolders(state.removingLastComponent(), permissions: 0o700)
        let own = layout.recordPath(of: .one, in: .app).removingLastComponent()
        #expect(unsafe symlink(own.string, state.string) == 0)
        let records = PackRecords(layout: layout, role: .app)
        #expect(try records.record(of: .one, in: .downloader).loaded == nil)
    }
}

/// Reading needs no control of the store.
@Suite(.timeLimit(.minutes(2))) struct ReadingWithoutControlTests {
    @Test(arguments: [PackForm.opened, .sealed]) func anotherProcessHoldsAllLocks(form: PackForm) async throws
    {
        let world = try await World()
        try await world.publish(["file": [1, 2, 3]])
        _ = try await world.fetched(form)
        let layout = world.layout
        let locks = layout.locks(of: .app) + [layout.trust(of: .app).appending("lock")]
        var held: [OpenFileReference] = []
        for path in locks {
            let file = OpenFileReference(try OpenFile(updating: path))
            #expect(try file.file.tryLock(exclusive: true))
            held.append(file)
        }
        let store = world.place.store()
        #expect(try await store.status().map(\.state) == [.loaded])
        #expect(try await store.status(of: .one).loadedVersion == 1)
        #expect(try await store.usage().packs.map(\.id) == [.one])
        #expect(try await store.verify().map(\.finding) == [.sound])
        #expect(try await store.contents(of: EntryPath("file"), in: .one) == [1, 2, 3])
        #expect(try await store.purgeablePacks().isEmpty)
        _ = try store.path(of: .one)
        withExtendedLifetime(held) {}
    }

    /// Roles that only a downloader read are not stored then, and nobody waits to store each of them.
    @Test func rolesOfADownloader() async throws {
        let world = try await World.withPacks()
        try await world.publishInBins(32)
        _ = try await world.downloader().run(.install)
        _ = try await world.client().refresh()
        let layout = world.layout
        #expect(try names(in: layout.trust(of: .app)).count { $0.hasPrefix("packs-") } < 16)
        let lock = OpenFileReference(try OpenFile(updating: layout.trust(of: .app).appending("lock")))
        #expect(try lock.file.tryLock(exclusive: true))
        let store = try world.client().store
        #expect(try await store.status().map(\.id.description) == ["extras", "levels/one"])
        #expect(try await store.status(of: .one).state == .toBeTransferred)
        withExtendedLifetime(lock) {}
    }
}
