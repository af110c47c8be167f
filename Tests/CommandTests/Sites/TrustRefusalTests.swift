import FaultServer
import TestFiles
import Testing
import VaultBase

/// Metadata without end, and hosts that can't be reached: the old version stays in use.
struct TrustRefusalTests {
    let world: World

    /// Version 1 is in the store; version 2 is on the site.
    init() async throws {
        world = try await World(level: "version 1")
        try await world.fetch().succeeded()
        try await world.publish(level: "version 2")
    }

    /// The store without the metadata, of which those verified before the refusal are kept.
    private func packs() throws -> [String: Tree.Entry] {
        try Tree(world.store).entries.filter { entry in
            // What was received is counted, whatever it was.
            !["permanent/@trust", "permanent/@traffic"].contains { entry.key.hasPrefix($0) }
        }
    }

    /// It is refused and leaves the opened packs as they were; then the true site brings the new version.
    @Test(
        arguments: ["timestamp.json", "2.snapshot.json", "2.targets.json", "2.root.json"], [nil, 1 << 40])
    func endlessMetadata(name: String, length: Int?) async throws {
        let site = try FaultServer(world.site) {
            $0.path.hasSuffix(name) ? .endless(length: length) : .file
        }
        let before = try packs()
        try await world.fetch(from: site.url).failed(76, naming: name)
        #expect(try packs() == before)
        try await world.fetch().succeeded()
        try await world.expectLoaded("level")
    }

    /// There was nothing to distrust.
    @Test func unreachableHosts() async throws {
        let nobody = try ListeningSocket()
        nobody.stop()
        let before = try Tree(world.store)
        try await world.fetch(from: "http://127.0.0.1:\(nobody.port)/").failed(68, naming: "\(nobody.port)")
        let site = try FaultServer(world.site) { _ in .hangUp }
        try await world.fetch(from: site.url).failed(69, naming: site.url)
        let failing = try FaultServer(world.site) { _ in .status(503) }
        try await world.fetch(from: failing.url).failed(69, naming: failing.url)
        try await world.fetch(from: "http://host.invalid/").failed(68, naming: "host.invalid")
        #expect(try Tree(world.store) == before)
    }
}
