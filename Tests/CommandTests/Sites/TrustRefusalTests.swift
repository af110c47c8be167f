import FaultServer
import Foundation
import StrictJSON
import Testing

/// Untrusted metadata: exit code 76, and the old version stays in use.
struct TrustRefusalTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    /// Version 1 is in the store and, as it was published, in `old-site`; version 2 is on the site.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try await Tool.run("cp", "-a", testSite.site, folder["old-site"])
        try await testSite.fetch().succeeded()
        try folder.write("level/file", "version 2")
        try await testSite.publish()
    }

    /// A fetch that is refused and leaves the opened packs as they were; then the true site brings the new version.
    private func refuses(
        naming part: String = "", at location: SourceLocation = #_sourceLocation,
        _ fetch: () async throws -> CommandResult
    ) async throws {
        let before = try packs()
        try await fetch().failed(76, naming: part, at: location)
        #expect(try packs() == before, sourceLocation: location)
        try await testSite.fetch().succeeded(at: location)
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]), sourceLocation: location)
    }

    /// The store without the metadata, of which those verified before the refusal are kept.
    private func packs() throws -> [String: Tree.Entry] {
        try Tree(testSite.store).entries.filter { entry in
            // What was received is counted, whatever it was.
            !["permanent/@trust", "permanent/@traffic"].contains { entry.key.hasPrefix($0) }
        }
    }

    @Test func expiredMetadata() async throws {
        // The default period of timestamps is 30 days.
        try await testSite.fetch(through: Clock.shifted(byDays: 29)).succeeded()
        let before = try Tree("\(testSite.store)/permanent").packs
        try await testSite.fetch(through: Clock.shifted(byDays: 31)).failed(
            76, naming: "timestamp", "expired")
        #expect(try Tree("\(testSite.store)/permanent").packs == before)
        // Publishing again at that time renews it, without another version of the pack.
        let renewal = try await testSite.publish(through: Clock.shifted(byDays: 31))
        #expect(renewal.text == "unchanged  1 pack\n")
        try await testSite.fetch(through: Clock.shifted(byDays: 31)).succeeded()
    }

    @Test func metadataThatExpiredOnTheHost() async throws {
        try folder.write(
            "vault/vault.json",
            #"{"format": 1, "expiry": {"timestamp": 1}, "packs": {"level": {"source": "../level"}}}"#)
        try folder.write("level/file", "version 3")
        try await testSite.publish(through: Clock.shifted(byDays: -3))
        try await testSite.fetch().failed(76, naming: "timestamp", "expired")
        try await testSite.publish()
        try await testSite.fetch().succeeded()
    }

    @Test(arguments: ["timestamp.json", "2.snapshot.json", "2.targets.json"])
    func unsignedMetadata(name: String) async throws {
        let site = try FaultServer(testSite.site, Self.replacing(name) { $0["signatures"] = [] }(folder))
        try await refuses { try await testSite.fetch(site.url) }
    }

    @Test(arguments: ["timestamp.json", "2.snapshot.json", "2.targets.json"])
    func changedMetadata(name: String) async throws {
        let change = Self.replacing(name) { document in
            var signed = document["signed"]?.members ?? [:]
            signed["expires"] = "2099-01-01T00:00:00Z"
            document["signed"] = .object(signed)
        }
        let site = try FaultServer(testSite.site, change(folder))
        try await refuses { try await testSite.fetch(site.url) }
    }

    @Test func anOlderSite() async throws {
        try await testSite.fetch().succeeded()
        try await refuses { try await testSite.fetch(folder["old-site"]) }
    }

    /// The old timestamp is correctly signed, but a rollback.
    @Test func anOlderTimestamp() async throws {
        try await testSite.fetch().succeeded()
        let old = try folder.bytes("old-site/metadata/timestamp.json")
        let site = try FaultServer(testSite.site) {
            $0.path.hasSuffix("timestamp.json") ? .bytes(old, length: old.count) : .file
        }
        try await refuses(naming: "timestamp") { try await testSite.fetch(site.url) }
    }

    @Test func anotherVaultsRoot() async throws {
        let other = try await TestSite()
        try await other.publish("--pack", "level=\(folder["level"])")
        // A new store that pins the other root.
        let arguments = ["--store", folder["new"], "--trust", other.root] + testSite.keys
        try await Command.run(["fetch", testSite.site] + arguments).failed(76)
        #expect(try Tree(folder["new/permanent"]).packs.isEmpty)
        // A store that has a pin already: another root, and another site.
        try await refuses {
            try await Command.run(
                ["fetch", testSite.site, "--store", testSite.store, "--trust", other.root] + testSite.keys)
        }
        try await refuses { try await testSite.fetch(other.site) }
    }

    @Test(arguments: ["timestamp.json", "2.snapshot.json", "2.targets.json", "2.root.json"])
    func endlessMetadata(name: String) async throws {
        let site = try FaultServer(testSite.site) {
            $0.path.hasSuffix(name) ? .endless(length: nil) : .file
        }
        try await refuses(naming: name) { try await testSite.fetch(site.url) }
    }

    @Test(arguments: ["timestamp.json", "2.snapshot.json", "2.targets.json", "2.root.json"])
    func hugeMetadata(name: String) async throws {
        let site = try FaultServer(testSite.site) {
            $0.path.hasSuffix(name) ? .endless(length: 1 << 40) : .file
        }
        try await refuses(naming: name) { try await testSite.fetch(site.url) }
    }

    @Test func malformedMetadata() async throws {
        let site = try FaultServer(testSite.site) { $0.isForPack ? .file : .bytes([1, 2, 3], length: 3) }
        try await refuses { try await testSite.fetch(site.url) }
    }

    /// There was nothing to distrust.
    @Test func unreachableHosts() async throws {
        let nobody = try ListeningSocket()
        nobody.stop()
        let before = try Tree(testSite.store)
        try await testSite.fetch("http://127.0.0.1:\(nobody.port)/").failed(68, naming: "\(nobody.port)")
        let site = try FaultServer(testSite.site) { _ in .hangUp }
        try await testSite.fetch(site.url).failed(69, naming: site.url)
        let failing = try FaultServer(testSite.site) { _ in .status(503) }
        try await testSite.fetch(failing.url).failed(69, naming: failing.url)
        try await testSite.fetch("http://host.invalid/").failed(68, naming: "host.invalid")
        #expect(try Tree(testSite.store) == before)
    }

    /// A site whose one file is changed before it is sent.
    private static func replacing(
        _ name: String, _ change: @escaping @Sendable (inout JSONObject) -> Void
    ) -> (TemporaryFolder) throws -> @Sendable (FaultServer.Request) -> FaultServer.Answer {
        { folder in
            var document = try #require(try folder.json("vault/site/metadata/\(name)").members)
            change(&document)
            let bytes = JSONValue.object(document).canonical()
            return { $0.path.hasSuffix(name) ? .bytes(bytes, length: bytes.count) : .file }
        }
    }
}
