import FaultServer
import Foundation
import StrictJSON
import Testing

/// Metadata without end, and hosts that can't be reached: the old version stays in use.
struct TrustRefusalTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    /// Version 1 is in the store; version 2 is on the site.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try await testSite.fetch().succeeded()
        try folder.write("level/file", "version 2")
        try await testSite.publish()
    }

    /// A fetch that is refused and leaves the opened packs as they were; then the true site brings the new version.
    private func refuses(
        naming part: String, at location: SourceLocation = #_sourceLocation,
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
}
