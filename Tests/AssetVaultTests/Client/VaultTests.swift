import FaultServer
import SealedPack
import Synchronization
import Testing
import VaultBase
import VaultFileSystem
import VaultSite

@testable import AssetVault

/// What an app meets: one object for updates, reading, requests and packs.
@Suite(.timeLimit(.minutes(5))) struct VaultTests {
    private let world: World
    private let vault: Vault

    init() async throws {
        world = try await World.withPacks([:])
        vault = try Vault(world.configuration())
    }

    @Test func updatesAndReads() async throws {
        let fractions = Mutex<[Double]>([])
        let report = try await vault.update { progress in fractions.withLock { $0.append(progress.fraction) }
        }
        #expect(report.loaded.map(\.description).sorted() == ["extras", "levels/one"])
        #expect(report.failed.isEmpty && report.awaitingKey.isEmpty && report.deferred.isEmpty)
        fractions.withLock { seen in
            #expect(seen.last == 1)
            #expect(seen == seen.sorted())
        }
        #expect(try await vault["levels/one"].bytes("noise") == World.one)
        #expect(try await vault["levels/one"].reader("noise").read(5..<9) == Array(World.one[5..<9]))
        #expect(try await vault["levels/one"].files.map(\.path.string) == ["noise"])
        // Nothing is missing: the progress is at its end at once.
        let second = Mutex<[Double]>([])
        #expect(
            try await vault.update { progress in second.withLock { $0.append(progress.fraction) } }.loaded
                .isEmpty)
        second.withLock { #expect($0 == [1]) }
    }

    @Test func availability() async throws {
        try await vault.costs()
        #expect(try await vault["extras"].status.availability == .available)
        try await vault.update()
        #expect(try await vault.packs.map(\.availability) == [.upToDate, .upToDate])
        try await world.publish(["noise": [1, 2, 3]], as: "extras")
        try await world.withdraw(PackID("levels/one"))
        try await vault.costs()
        #expect(try await vault["extras"].status.availability == .outOfDate)
        #expect(try await vault["levels/one"].status.availability == .obsolete)
        #expect(try await vault.packs.map(\.availability) == [.outOfDate, .obsolete])
    }

    /// A pack that fails is in the report, and the others are loaded; the progress ends before 1.
    @Test func aFailureOfOnePack() async throws {
        world.answer { $0.path.contains("extras") ? .changed { $0 = .init(status: 404, body: []) } : .file }
        let last = Mutex(0.0)
        let report = try await vault.update { progress in last.withLock { $0 = progress.fraction } }
        #expect(report.loaded.map(\.description) == ["levels/one"])
        #expect(report.failed.map(\.category) == [.notHosted])
        last.withLock { #expect($0 > 0 && $0 < 1) }
    }

    @Test func withoutAKey() async throws {
        let keyless = try Vault(world.configuration(keys: false))
        let report = try await keyless.update()
        #expect(report.awaitingKey.count == 2 && report.loaded.isEmpty && report.failed.isEmpty)
        #expect(try await keyless["extras"].status.availability == .awaitingKey)
        #expect(await category { _ = try await keyless["extras"].bytes("noise") } == .key)
        #expect(try await keyless.unlock(with: world.place.keys).count == 2)
        #expect(try await keyless["extras"].bytes("noise") == World.extras)
    }

    /// What is set counts for the next call.
    @Test func settingsMayChange() async throws {
        // Else the version that was for all apps would stay listed for 1.0.
        try world.settings { $0["apps"] = ["from": "2.0"] }
        try await world.declare("apps", of: ["extras": .object(["from": "2.0"])])
        vault.settings.appVersion = try AppVersion("1.0")
        #expect(try await vault.update().loaded.map(\.description) == ["levels/one"])
        vault.settings.appVersion = try AppVersion("2.0")
        #expect(try await vault.update().loaded.map(\.description) == ["extras"])
        vault.settings.network = .none
        #expect(await category { try await vault.update() } == .unreachable)
        #expect(try await vault["extras"].bytes("noise") == World.extras)
    }

    @Test func accessByTag() async throws {
        try await world.tag(["extras": ["campaign"]])
        let bytes = try await vault.withAccess(to: ["campaign"]) { files in
            try await files.contents(of: EntryPath("noise"))
        }
        #expect(bytes == World.extras)
        #expect(await category { try await vault.withAccess(to: ["none"]) { _ in } } == .unknownTag)
    }

    /// The same calls, before anything is published.
    @Test func sourceFolders() async throws {
        let scratch = try ScratchFolder(in: "/dev/shm")
        try FileSystem.createFolders(scratch.path.pushing("levels/one"), permissions: 0o755)
        try DurableFile.write(
            Array("map".utf8).span, to: scratch.path.pushing("levels/one/map.json"), permissions: 0o644,
            replacing: false)
        let vault = Vault(folder: scratch.path)
        #expect(try await vault.update().failed.isEmpty)
        #expect(try await vault["levels/one"].bytes("map.json") == Array("map".utf8))
        #expect(try await vault["levels/one"].files.map(\.path.string) == ["map.json"])
        #expect(await category { _ = try await vault["levels/two"].bytes("map.json") } == .missing)
        let bytes = try await vault.withAccess(to: ["any"]) { files in
            try await files.contents(of: EntryPath("levels/one/map.json"))
        }
        #expect(bytes == Array("map".utf8))
    }

    @Test func devicesInOneLine() throws {
        let device: DeviceTraits = ["scale": 2, "language": ["de-AT", "en"]]
        #expect(device == DeviceTraits(["scale": ["2"], "language": ["de-AT", "en"]]))
    }
}
