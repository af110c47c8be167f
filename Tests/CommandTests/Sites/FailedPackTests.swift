import FaultServer
import Foundation
import StrictJSON
import Testing

/// Packs that could not be fetched at first.
struct FailedPackTests {
    let workshop: Workshop
    let folder: TemporaryFolder

    init() async throws {
        workshop = try await Workshop()
        folder = workshop.folder
        try folder.write("level/file", "version 1")
        try await workshop.publish("--pack", "level=\(folder["level"])")
    }

    private func failing() throws -> FaultServer {
        try FaultServer(workshop.site) { $0.isForPack ? .status(404) : .file }
    }

    private func expectLoaded(_ form: String = "opened", at location: SourceLocation = #_sourceLocation)
        async throws
    {
        let status = try await workshop.status()["level"]
        #expect(status?.state == "loaded" && status?.failure == nil, sourceLocation: location)
        #expect(status?.form == form && status?.waitingVersion == nil, sourceLocation: location)
        let text = try await Command.run("status", "--store", workshop.store).succeeded().text
        #expect(!text.contains("failed"), "\(text)", sourceLocation: location)
    }

    private func expectFailed(at location: SourceLocation = #_sourceLocation) async throws -> PackStatus? {
        let status = try await workshop.status()["level"]
        #expect(status?.state == "failed" && status?.failure?.isEmpty == false, sourceLocation: location)
        return status
    }

    @Test(arguments: [[], ["--sealed"]]) func loadedAtTheSecondAttempt(options: [String]) async throws {
        let server = try failing()
        let fetch = { (url: String) in
            try await Command.run(
                ["fetch", url, "--store", workshop.store, "--trust", workshop.root] + options + workshop.keys)
        }
        try await fetch(server.url).failed(69)
        #expect(try await expectFailed()?.version == nil)
        try await fetch(workshop.site).succeeded()
        try await expectLoaded(options.isEmpty ? "opened" : "sealed")
    }

    /// The other form could not be fetched; the next fetch accepts the existing form.
    @Test(arguments: [true, false]) func anExistingFormSatisfiesTheNextFetch(withKeys: Bool) async throws {
        try await workshop.fetch().succeeded()
        let server = try failing()
        try await workshop.fetch(server.url, "--sealed").failed(69)
        #expect(try await expectFailed()?.version == 1)
        try await workshop.fetch(server.url, withKeys: withKeys).succeeded()
        try await expectLoaded()
    }

    /// A pack that failed and is opened with other keys: the error names the pack, not a temporary file.
    @Test func errorsNameThePack() async throws {
        let server = try failing()
        let result = try await workshop.fetch(server.url)
        #expect(result.exitCode == 69 && result.errorText.contains("'level'"), "\(result.errorText)")
        for word in [".part", "ephemeral", workshop.store] { #expect(!result.errorText.contains(word)) }
    }

    /// `--json` prints the same as `status`, also after a failed fetch.
    @Test func reportsLikeStatus() async throws {
        let status = ["status", "--store", workshop.store, "--json"]
        let server = try failing()
        let failed = try await workshop.fetch(server.url, "--json")
        #expect(failed.exitCode == 69)
        #expect(failed.output == (try await Command.run(status).succeeded().output))
        #expect(try failed.json()["packs"]?.elements?.first?["state"] == "failed")

        let loaded = try await workshop.fetch(nil, "--json").succeeded()
        #expect(loaded.output == (try await Command.run(status).succeeded().output))
        #expect(try loaded.json()["packs"]?.elements?.first?["state"] == "loaded")
        #expect(loaded.errorText == "loaded  level\n")
        // Nothing of what the site lists is there.
        let unknown = try await workshop.fetch(nil, "--json", "unknown", into: folder["new"])
        #expect(unknown.exitCode == 66)
        let packs = try #require(try unknown.json()["packs"]?.elements)
        #expect(packs.count == 1 && packs.allSatisfy { $0["state"] == "absent" })
    }
}
