import FaultServer
import Foundation
import Sampling
import Testing

/// Unreadable records of one pack, and a `status` that changes nothing.
struct DamagedRecordTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    private static let record = "store/permanent/@state/worlds/level/@record.json"

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "level")
        try folder.write("other/file", "other")
        try await testSite.publish(
            "--pack", "worlds/level=\(folder["level"])", "--pack", "other=\(folder["other"])")
        try await testSite.fetch().succeeded()
    }

    enum Damage: CaseIterable { case truncated, empty, garbled, noJSON, anotherPacks, oversized }

    private func damage(_ damage: Damage) async throws {
        let bytes = try folder.bytes(Self.record)
        switch damage {
        case .truncated: try folder.write(Self.record, Array(bytes.prefix(bytes.count / 2)))
        case .empty: try folder.write(Self.record, [])
        case .garbled:
            var garbled = bytes
            garbled[bytes.count / 2] ^= 1
            try folder.write(Self.record, garbled)
        case .noJSON: try folder.write(Self.record, Bytes.random(1000, seed: 1))
        case .anotherPacks:
            try folder.write(Self.record, try folder.bytes("store/permanent/@trust/root.json"))
        case .oversized: try await Tool.run("truncate", "--size", "200M", folder[Self.record])
        }
    }

    /// Every name below the store with its kind, mode, size and times, to the nanosecond.
    private func footprint() async throws -> String {
        try await Tool.run(
            "find", testSite.store, "-printf", "%p %y %m %s %T@ %C@ %i %l\\n"
        ).text.split(separator: "\n").sorted().joined(separator: "\n")
    }

    @Test(arguments: Damage.allCases) func fetchRewritesTheRecord(kind: Damage) async throws {
        try await damage(kind)
        let before = try await footprint()
        let status = try await testSite.status()
        #expect(status.count == 2)
        for id in ["worlds/level", "other"] {
            #expect(status[id]?.state == "loaded" && status[id]?.version == 1, "\(id)")
        }
        #expect(try await footprint() == before)

        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url, "other").succeeded()
        try await testSite.fetch(server.url).succeeded()
        #expect(server.packs.isEmpty, "what is there is not fetched again")
        // The record is complete again, and the next version is fetched as usual.
        #expect(try folder.json(Self.record)["loaded"] != nil)
        try folder.write("level/file", "version 2")
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.status()["worlds/level"]?.version == 2)
        #expect(try await testSite.tree(of: "worlds/level") == Tree(folder["level"]))
    }

    /// A waiting pack needs neither the record nor the site.
    @Test(arguments: [Damage.truncated, .garbled]) func aWaitingPackIsKept(kind: Damage) async throws {
        try folder.write("level/file", "version 2")
        try await testSite.publish()
        try await testSite.fetch(withKeys: false).succeeded()
        try await damage(kind)
        #expect(try await testSite.status()["worlds/level"]?.waitingVersion == 2)
        try await Command.run(["unlock", "--store", testSite.store] + testSite.keys).succeeded()
        #expect(try await testSite.status()["worlds/level"]?.version == 2)
        #expect(try await testSite.tree(of: "worlds/level") == Tree(folder["level"]))
        #expect(try testSite.files(in: "shared/packs") == [])
    }

    /// An on-demand pack is updated, too.
    @Test func aPackOnDemand() async throws {
        try folder.write(
            "vault/vault.json",
            #"{"format": 1, "packs": {"worlds/level": {"source": "../level", "policy": "onDemand"}}}"#)
        try folder.write("level/file", "version 2")
        try await testSite.publish()
        try await damage(.garbled)
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "worlds/level") == Tree(folder["level"]))
    }

    @Test(arguments: [Damage.truncated, .oversized]) func theNamedPackMayHaveTheDamagedRecord(kind: Damage)
        async throws
    {
        try folder.write("level/file", "version 2")
        try await testSite.publish()
        try await damage(kind)
        try await testSite.fetch(nil, "worlds/level").succeeded()
        #expect(try await testSite.tree(of: "worlds/level") == Tree(folder["level"]))
    }

    @Test(arguments: Damage.allCases.sample(2, for: "purgeableNeedsNoRecord"))
    func purgeableNeedsNoRecord(kind: Damage) async throws {
        try await damage(kind)
        try await Command.run("purgeable", "worlds/level", "--store", testSite.store).succeeded()
        let status = try await Command.run("status", "--store", testSite.store).succeeded().text
        #expect(status.contains("loaded  worlds/level  version 1 opened, purgeable"), "\(status)")
    }

    @Test func statusChangesNothing() async throws {
        let before = try await footprint()
        try await Command.run("status", "--store", testSite.store).succeeded()
        #expect(try await footprint() == before)
        // Not even in the wrong place.
        try folder.makeFolder("store/empty")
        let elsewhere = try await footprint()
        for place in ["nowhere", "store/empty"] {
            for area in ["permanent", "ephemeral", "shared"] {
                try await Command.run("status", "--store", testSite.store, "--\(area)", folder[place])
                    .succeeded()
            }
        }
        let nowhere = ["--store", folder["nowhere"]]
        for command in [["unlock"] + testSite.keys, ["repair", testSite.site]] {
            try await Command.run(command + nowhere).failed(66, naming: "nowhere")
        }
        #expect(try await footprint() == elsewhere)
        #expect(try !folder.exists("nowhere"))
        let status = try await testSite.status()
        #expect(status.values.allSatisfy { $0.state == "loaded" && $0.version == 1 })
    }
}
