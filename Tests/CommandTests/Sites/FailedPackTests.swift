import FaultServer
import Foundation
import StrictJSON
import Testing

/// Packs that could not be fetched at first.
struct FailedPackTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
    }

    private func failing() throws -> FaultServer {
        try FaultServer(testSite.site) { $0.isForPack ? .status(404) : .file }
    }

    private func expectLoaded(_ form: String = "opened", at location: SourceLocation = #_sourceLocation)
        async throws
    {
        let status = try await testSite.status()["level"]
        #expect(status?.state == "loaded" && status?.failure == nil, sourceLocation: location)
        #expect(status?.form == form && status?.waitingVersion == nil, sourceLocation: location)
        let text = try await Command.run("status", "--store", testSite.store).succeeded().text
        #expect(!text.contains("failed"), "\(text)", sourceLocation: location)
    }

    private func expectFailed(at location: SourceLocation = #_sourceLocation) async throws -> PackStatus? {
        let status = try await testSite.status()["level"]
        #expect(status?.state == "failed" && status?.failure?.isEmpty == false, sourceLocation: location)
        return status
    }

    @Test(arguments: [[], ["--sealed"]]) func loadedAtTheSecondAttempt(options: [String]) async throws {
        let server = try failing()
        let fetch = { (url: String) in
            try await Command.run(
                ["fetch", url, "--store", testSite.store, "--trust", testSite.root] + options + testSite.keys)
        }
        try await fetch(server.url).failed(72)
        #expect(try await expectFailed()?.version == nil)
        try await fetch(testSite.site).succeeded()
        try await expectLoaded(options.isEmpty ? "opened" : "sealed")
    }

    /// The other form could not be fetched; the next fetch accepts the existing form.
    @Test(arguments: [true, false]) func anExistingFormSatisfiesTheNextFetch(withKeys: Bool) async throws {
        try await testSite.fetch().succeeded()
        let server = try failing()
        try await testSite.fetch(server.url, "--sealed").failed(72)
        #expect(try await expectFailed()?.version == 1)
        try await testSite.fetch(server.url, withKeys: withKeys).succeeded()
        try await expectLoaded()
    }

    /// A pack that failed and is opened with other keys: the error names the pack, not a temporary file.
    @Test func errorsNameThePack() async throws {
        let server = try failing()
        let result = try await testSite.fetch(server.url)
        #expect(result.exitCode == 72 && result.errorText.contains("'level'"), "\(result.errorText)")
        for word in [".part", "ephemeral", testSite.store] { #expect(!result.errorText.contains(word)) }
    }

    /// `--json` prints the same as `status`, also after a failed fetch.
    @Test func reportsLikeStatus() async throws {
        let status = ["status", "--store", testSite.store, "--json"]
        let server = try failing()
        let failed = try await testSite.fetch(server.url, "--json")
        #expect(failed.exitCode == 72)
        #expect(failed.output == (try await Command.run(status).succeeded().output))
        #expect(try failed.json()["packs"]?.elements?.first?["state"] == "failed")

        let loaded = try await testSite.fetch(nil, "--json").succeeded()
        #expect(loaded.output == (try await Command.run(status).succeeded().output))
        #expect(try loaded.json()["packs"]?.elements?.first?["state"] == "loaded")
        #expect(loaded.errorText == "loaded  level\n")
        // Nothing of what the site lists is there.
        let unknown = try await testSite.fetch(nil, "--json", "unknown", into: folder["new"])
        #expect(unknown.exitCode == 66)
        let packs = try #require(try unknown.json()["packs"]?.elements)
        #expect(packs.count == 1 && packs.allSatisfy { $0["state"] == "absent" })
    }
}
