import AssetVaultFoundation
import FaultServer
import Sampling
import SealedPack
import Synchronization
import SystemPackage
import TestFiles
import Testing
import VaultFileSystem
import VaultTransport

@testable import AssetVault

/// Updates of packs that share tags: a program that opens them afterwards sees all of them in one version of the site.
@Suite(.timeLimit(.minutes(5))) struct PackSetTests {
    /// The packs of the tags `level2` and `level3`, which share one of them.
    static let set = ["game/level2", "game/level2.level3", "game/level3"]
    private static let paths = ["levels/2/map", "levels/3/map", "textures/grass"]

    private let world: World

    /// All packs are loaded as they were published first; then all were published again.
    init() async throws {
        world = try await World.withLevels()
        _ = try await world.client().fetch(.all)
        try await publish(2)
    }

    // MARK: - What is there

    private static func bytes(of path: String, in release: Int) -> [UInt8] {
        switch (path, release) {
        case ("textures/grass", 1): World.texture
        case ("textures/grass", _): noise(300_000, seed: 100 * release)
        case (_, 1): World.map(Int(path.split(separator: "/")[1]) ?? 0)
        default: noise(200_000, seed: 100 * release + (Int(path.split(separator: "/")[1]) ?? 0))
        }
    }

    private func publish(_ release: Int) async throws {
        for path in Self.paths + ["levels/1/map", "levels/4/map"] {
            try world.write(Self.bytes(of: path, in: release), toTree: path)
        }
        try await world.publish()
    }

    /// The host fails for a pack, and for no other.
    private func fail(_ id: String, _ answer: FaultServer.Answer = .status(404)) {
        let name = "." + id.dropFirst("game/".count) + ".avpack"
        // Behind the digest.
        world.answer { $0.path.split(separator: "/").last?.drop { $0 != "." } == name[...] ? answer : .file }
    }

    private func succeed() { world.answer { _ in .file } }

    /// What a program sees that opens the tags now, without any network.
    private func expect(release: Int, at location: SourceLocation = #_sourceLocation) async throws {
        let access = try await world.place.store().access(to: ["level2", "level3"])
        let present = try #require(access, "nothing is there", sourceLocation: location)
        for path in Self.paths {
            let isRelease =
                try await present.contents(of: EntryPath(path)) == Self.bytes(of: path, in: release)
            #expect(isRelease, "\(path)", sourceLocation: location)
        }
        let request = ResourceRequest(tags: ["level3"], of: try unreachableClient())
        let hasBegun = try await request.conditionallyBeginAccessing()
        #expect(hasBegun, sourceLocation: location)
        request.endAccessing()
        let again = ResourceRequest(tags: ["level2"], of: try unreachableClient())
        try await again.beginAccessing()
        // Not in the expectation, which would look for the differences of many bytes for minutes.
        let isRelease =
            try await again.contents(of: EntryPath("levels/2/map"))
            == Self.bytes(of: "levels/2/map", in: release)
        #expect(isRelease, "levels/2/map", sourceLocation: location)
    }

    private func unreachableClient() throws -> VaultClient {
        try world.client { $0.network = .none }
    }

    private func version(of id: String) async throws -> UInt64? {
        try await world.place.store().status(of: PackID(id)).loadedVersion
    }

    private func status(of id: String) async throws -> PackStatus {
        try await world.place.store().status(of: PackID(id))
    }

    private func update(
        _ client: VaultClient? = nil, _ selection: PackSelection = .all
    ) async throws -> FetchReport {
        try await (client ?? world.client()).update(
            selection, priority: nil, within: nil, reportingTo: LoadingTracker())
    }

    // MARK: - Interruptions

    @Test(arguments: zip(PackSetTests.set + ["game/level2"], [PackForm.opened, .opened, .opened, .sealed]))
    func aHostThatFails(missing: String, form: PackForm) async throws {
        if form == .sealed { _ = try await update(world.client { $0.form = .sealed }) }
        if form == .sealed { try await publish(3) }
        let (old, new) = form == .sealed ? (2, 3) : (1, 2)
        fail(missing)
        let report = try await update()
        let others = Self.set.filter { $0 != missing }
        #expect(report.awaitingSet.map(\.description).sorted() == others)
        #expect(report.failed.map(\.category) == [.notHosted])
        #expect("\(report.failed)".contains("none of the 3 packs of its set is updated"), "\(report.failed)")
        try await expect(release: old)
        for id in others {
            let status = try await status(of: id)
            #expect(status.readyVersion == UInt64(new) && status.loadedVersion == UInt64(old))
            #expect(status.state == .toBeTransferred && status.availability == .outOfDate)
        }
        // Packs without these tags are updated as ever.
        #expect(try await version(of: "game/level4") == UInt64(new))

        // The next one downloads only what is missing.
        let asked = world.server.packs.count
        succeed()
        let completed = try await update()
        #expect(completed.loaded.map(\.description).sorted() == Self.set && completed.awaitingSet.isEmpty)
        try await expect(release: new)
        let askedFor = Set(world.server.packs.dropFirst(asked).map(\.request.path))
        #expect(askedFor.count == 1, "\(askedFor)")
        for id in Self.set { #expect(try await status(of: id).state == .loaded) }
        let store = world.layout
        for id in Self.set {
            let versions = try names(in: store.home(of: PackID(id))).filter {
                VersionName($0) != nil
            }
            #expect(versions.count == 1, "\(versions)")
        }
    }

    /// After each pack of the set; the last one is damaged on the host.
    @Test func aDamagedPack() async throws {
        fail("game/level3", .changed { $0.body = $0.body.map { $0 ^ 1 } })
        let report = try await update()
        #expect(report.failed.count == 1 && report.awaitingSet.count == 2, "\(report)")
        try await expect(release: 1)
        let error = try #require(await thrown { _ = try await world.client().fetch(.all) })
        #expect(error.problem.contains("of its set") && !error.remedy.isEmpty, "\(error)")
        try await expect(release: 1)
        succeed()
        _ = try await world.client().fetch(.all)
        try await expect(release: 2)
    }

    /// Another version is published while the set is incomplete: the packs that were ready are not used.
    @Test func aNewerRelease() async throws {
        fail("game/level3")
        _ = try await update()
        try await publish(3)
        fail("game/level2")
        _ = try await update()
        try await expect(release: 1)
        succeed()
        _ = try await update()
        try await expect(release: 3)
    }

    /// The publisher takes an update back while the set is incomplete.
    @Test func anUpdateThatIsTakenBack() async throws {
        fail("game/level3")
        _ = try await update()
        for path in Self.paths { try world.write(Self.bytes(of: path, in: 1), toTree: path) }
        try await world.publish()
        succeed()
        let report = try await update()
        #expect(report.failed.isEmpty && report.awaitingSet.isEmpty)
        try await expect(release: 1)
        for id in Self.set { #expect(try await status(of: id).readyVersion == nil) }
    }

    /// One of the tag's packs is asked for by its name, or the other tag is: the whole set comes.
    @Test(arguments: [PackSelection.only([PackID(constant: "game/level2")]), .tagged(["level2"])])
    func aPartOfTheSet(selection: PackSelection) async throws {
        fail("game/level3")
        let report = try await update(nil, selection)
        #expect(report.failed.count == 1)
        try await expect(release: 1)
        succeed()
        _ = try await update(nil, selection)
        try await expect(release: 2)
        #expect(try await version(of: "game/level4") == 1)
    }

    /// The set of the new release has a pack more.
    @Test func aNewPackOfTheTag() async throws {
        try world.write(noise(50_000, seed: 5), toTree: "music/theme")
        try world.declareTree(
            (1...4).map { ("levels/\($0)", ["level\($0)"]) } + [
                ("textures", ["level2", "level3"]), ("music", ["level2", "level3", "music"]),
            ], initial: ["level1"])
        try await publish(3)
        fail("game/level2.level3.music")
        let report = try await update()
        #expect(report.failed.count == 1 && report.awaitingSet.count == 3, "\(report)")
        // By the metadata that are here now, a pack of the tag is missing.
        try await expect(release: 1)
        _ = try await world.client().refresh()
        try await expect(release: 1)
        succeed()
        _ = try await update()
        try await expect(release: 3)
        let access = try await world.place.store().access(to: ["level2"])
        #expect(try await access?.contents(of: EntryPath("music/theme")) == noise(50_000, seed: 5))
    }

    /// A store that had nothing of the tags: nothing old can be seen, so each pack is ready as soon as it is here.
    @Test func aFirstFetch() async throws {
        try FileSystem.removeTree(world.layout.permanent.removingLastComponent())
        fail("game/level3")
        let report = try await update()
        #expect(report.awaitingSet.isEmpty && report.failed.count == 1)
        #expect(try await version(of: "game/level2") == 2)
    }

    // MARK: - Whole selections

    @Test(arguments: [false, true])
    func allPacksTogether(isFirst: Bool) async throws {
        if isFirst { try FileSystem.removeTree(world.layout.permanent.removingLastComponent()) }
        let client = try world.client { $0.policy.updatesTogether = true }
        fail("game/level4")
        let report = try await update(client)
        #expect(report.failed.count == 1 && report.awaitingSet.count == 4, "\(report)")
        for level in 1...3 {
            #expect(try await version(of: "game/level\(level)") == (isFirst ? nil : 1))
        }
        succeed()
        _ = try await update(client)
        for level in 1...4 { #expect(try await version(of: "game/level\(level)") == 2) }
        try await expect(release: 2)
    }

    /// What is complete and awaits the others of its set takes its space.
    @Test func usageOfWhatIsReady() async throws {
        try FileSystem.removeTree(world.layout.permanent.removingLastComponent())
        fail("game/level4")
        _ = try await update(world.client { $0.policy.updatesTogether = true })
        let usage = try await world.place.store().usage()
        let packs = usage.packs.filter { Self.set.contains($0.id.description) }
        #expect(packs.map(\.id.description) == Self.set)
        #expect(packs.allSatisfy { $0.form == nil && $0.sizeOnDisk > 150_000 }, "\(packs)")
    }

    // MARK: - Keys

    /// The packs wait for their key, and one of them is damaged by then.
    @Test func packsThatWaitForTheirKey() async throws {
        let keyless = try await update(world.client(keys: false))
        #expect(keyless.awaitingKey.count == 5)
        try await expect(release: 1)
        let waiting = world.layout.waiting(of: try PackID("game/level3"))
        let name = try #require(try names(in: waiting).first { $0.hasSuffix(".avpack") })
        let file = waiting.appending(name)
        let length = try #require(try FileSystem.status(of: file)?.size)
        try flipByte(of: file, at: length - 100)
        try flipByte(of: file, at: 5000)
        let store = world.place.store()
        #expect(await category { try await store.unlock() } == .corrupt)
        try await expect(release: 1)
        #expect(try await version(of: "game/level4") == 2)
        _ = try await update()
        try await expect(release: 2)
    }

    @Test func packsThatAreUnlocked() async throws {
        _ = try await update(world.client(keys: false))
        let loaded = try await world.place.store().unlock([PackID("game/level2")])
        #expect(loaded.map(\.description).sorted() == Self.set)
        try await expect(release: 2)
    }

    // MARK: - Several programs

    @Test func aProgramThatHoldsTheOldSet() async throws {
        let held = ResourceRequest(tags: ["level2", "level3"], of: try world.client())
        #expect(try await held.conditionallyBeginAccessing())
        _ = try await update()
        try await expect(release: 2)
        for path in Self.paths {
            #expect(try await held.contents(of: EntryPath(path)) == Self.bytes(of: path, in: 1))
        }
        held.endAccessing()
        _ = try await update()
        for id in Self.set {
            let versions = try names(in: world.layout.home(of: PackID(id))).filter { VersionName($0) != nil }
            #expect(versions.count == 1, "\(versions)")
        }
    }

    /// Programs that begin while one release after the other comes.
    @Test func readersDuringUpdates() async throws {
        let isDone = Flag()
        try await withThrowingTaskGroup(of: Set<Int>.self) { group in
            for _ in 0..<2 {
                let store = world.place.store()
                group.addTask { try await Self.releases(seenIn: store, until: isDone) }
            }
            let client = try world.client()
            let last = Sampling.isWhole ? 6 : 4
            for release in 3...last {
                try await publish(release)
                _ = try await update(client)
            }
            isDone.set()
            for try await seen in group { #expect(seen.count > 1 && seen.contains(last), "\(seen)") }
        }
    }

    /// A request has locked the first of its packs when all of them become live.
    @Test func anUpdateWhileARequestLocksItsPacks() async throws {
        fail("game/level3")
        _ = try await update()
        let access = StoreAccess(layout: world.layout, role: .app)
        func record(_ id: String) throws -> PackRecord { try access.records.record(of: PackID(id)) }
        let first = try #require(try record("game/level2").loaded)
        let last = try #require(try record("game/level2.level3").loaded)
        let tree = try Folder(opening: world.layout.version(last.pack, as: .opened))
        #expect(try tree.tryLock(exclusive: true))
        let store = world.place.store()
        let begun = Task { try await store.access(to: ["level2"]) }
        try await wait(for: "the request's lock") {
            try VersionFolder(of: first.pack.id, in: world.layout)?.isFree(first) != true
        }
        let installer = PackInstaller(store: access, space: DiskSpace(store: access), sets: PackSets())
        let ready = try ["game/level2", "game/level2.level3"].map { id in
            try #require(try record(id).ready?.version.pack)
        }
        #expect(try await installer.activateTogether(ready))
        tree.unlock()
        #expect(try await begun.value?.leases.map(\.version) == [2, 2])
    }

    private static func releases(seenIn store: VaultStore, until isDone: Flag) async throws -> Set<Int> {
        var seen: Set<Int> = []
        while true {
            let isLast = isDone.isSet
            let access = try #require(try await store.access(to: ["level2", "level3"]))
            let versions = Set(access.leases.map(\.version))
            #expect(versions.count == 1, "a mixture: \(versions)")
            seen.formUnion(versions.map { Int($0) })
            access.end()
            if isLast { return seen }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    // MARK: - Room

    @Test func costs() async throws {
        let costs = try await world.client().costs(of: .all)
        let together = costs.filter { $0.set == 1 }
        #expect(together.map(\.id.description).sorted() == Self.set)
        #expect(
            costs.filter { $0.set == nil }.map(\.id.description).sorted() == ["game/level1", "game/level4"])
        let written = together.saturatingSum(\.written)
        #expect((700_000..<1_600_000).contains(written), "\(written)")
        let all = try await world.client { $0.policy.updatesTogether = true }.costs(of: .all)
        #expect(all.allSatisfy { $0.set == 1 } && all.count == 5)
    }

    /// Before any of its packs is downloaded, with the number of bytes.
    @Test func aDiskWithoutRoom() async throws {
        let free = try FileSystem.availableSpace(at: world.layout.permanent)
        let client = try world.client { $0.policy.lowWaterMark = free * 2 }
        let asked = try await world.server.packBytesAtRest
        let report = try await update(client, .tagged(["level2"]))
        let error = try #require(report.failed.first)
        #expect(report.failed.count == 1 && report.awaitingSet.count == 2)
        #expect(error.category == .diskFull && error.missingBytes ?? 0 > 700_000, "\(error)")
        #expect(error.problem.contains("3 packs of a set"), "\(error)")
        #expect(try await world.server.packBytesAtRest - asked < 20_000)
        try await expect(release: 1)
    }

    /// An estimate refuses what a fetch refuses, with the same error; it removes nothing and leaves no file.
    @Test func costsWithoutRoom() async throws {
        let free = try FileSystem.availableSpace(at: world.layout.permanent)
        let client = try world.client { $0.policy.lowWaterMark = free * 2 }
        try await client.store.declarePurgeable(PackID("game/level1"))
        let before = try names(in: world.layout.ephemeral)
        let estimated = try #require(await thrown { _ = try await client.costs(of: .tagged(["level2"])) })
        #expect(try names(in: world.layout.ephemeral) == before)
        let fetched = try #require(await thrown { _ = try await client.fetch(.tagged(["level2"])) })
        #expect(
            estimated.category == .diskFull && estimated.problem.contains("3 packs of a set"), "\(estimated)")
        #expect(fetched.category == .diskFull && fetched.place == estimated.place, "\(fetched)")
    }
}
