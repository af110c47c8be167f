import FaultServer
import Foundation
import StrictJSON
import Testing

/// Packs that could not be fetched, and that come after all.
struct FailedPackTests {
    let workshop: Workshop
    let folder: TemporaryFolder
    private let wrongKeys: [String]

    init() async throws {
        workshop = try await Workshop()
        folder = workshop.folder
        try folder.write("level/file", "version 1")
        try await workshop.publish("--pack", "level=\(folder["level"])")
        try await Command.run("keygen", "-o", folder["wrong.jwks"]).succeeded()
        wrongKeys = ["--keys", "file:\(folder["wrong.jwks"])"]
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

    /// The other form can't be had, but what is there already is what the next fetch wants.
    @Test(arguments: [true, false]) func whatIsThereIsGoodEnough(withKeys: Bool) async throws {
        try await workshop.fetch().succeeded()
        let server = try failing()
        try await workshop.fetch(server.url, "--sealed").failed(69)
        #expect(try await expectFailed()?.version == 1)
        try await workshop.fetch(server.url, withKeys: withKeys).succeeded()
        try await expectLoaded()
    }

    /// What came with the wrong key waits for the right one, and is not asked for again.
    @Test func theRightKeyNeedsNoDownload() async throws {
        try await workshop.fetch(nil, wrongKeys[0], wrongKeys[1], withKeys: false).failed(77, naming: "level")
        let status = try await expectFailed()
        #expect(status?.waitingVersion == 1 && status?.version == nil)
        #expect(try workshop.files(in: "ephemeral") == [])

        let server = try failing()
        // Nor is it lost when the wrong key comes again.
        try await workshop.fetch(server.url, wrongKeys[0], wrongKeys[1], withKeys: false).failed(77)
        #expect(try await expectFailed()?.waitingVersion == 1)
        try await workshop.fetch(server.url).succeeded()
        #expect(server.packs.isEmpty)
        try await expectLoaded()
        #expect(try await workshop.tree(of: "level") == Tree(folder["level"]))
        #expect(try workshop.files(in: "shared").filter { $0.hasSuffix(".avpack") } == [])
    }

    @Test func theKeyMayAlsoBeMissing() async throws {
        try await workshop.fetch(nil, wrongKeys[0], wrongKeys[1], withKeys: false).failed(77)
        let server = try failing()
        try await workshop.fetch(server.url, withKeys: false).succeeded()
        let status = try await workshop.status()["level"]
        #expect(status?.state == "toBeTransferred" && status?.waitingVersion == 1 && status?.failure == nil)
    }

    /// An error names the pack, not where its bytes lie for the moment.
    @Test func errorsNameThePack() async throws {
        let result = try await workshop.fetch(nil, wrongKeys[0], wrongKeys[1], withKeys: false)
        #expect(result.errorText.hasPrefix("assetvault: level: "), "\(result.errorText)")
        for word in [".part", "ephemeral", workshop.store] { #expect(!result.errorText.contains(word)) }
        let again = try await workshop.fetch(nil, wrongKeys[0], wrongKeys[1], withKeys: false)
        #expect(again.errorText == result.errorText)
    }

    /// `--json` tells scripts the same as `status`, whatever became of the fetch.
    @Test func reportsLikeStatus() async throws {
        let status = ["status", "--store", workshop.store, "--json"]
        let failed = try await workshop.fetch(
            nil, "--json", wrongKeys[0], wrongKeys[1], withKeys: false)
        #expect(failed.exitCode == 77)
        #expect(failed.errorText.hasPrefix("assetvault: level: "))
        #expect(failed.output == (try await Command.run(status).succeeded().output))
        let pack = try #require(try failed.json()["packs"]?.elements?.first)
        #expect(pack["state"] == "failed" && pack["waitingVersion"] == 1)

        let loaded = try await workshop.fetch(nil, "--json").succeeded()
        #expect(loaded.output == (try await Command.run(status).succeeded().output))
        #expect(try loaded.json()["packs"]?.elements?.first?["state"] == "loaded")
        #expect(loaded.errorText == "loaded  level\n")
        // Of a store that could not even be begun there is nothing to tell.
        let unknown = try await workshop.fetch(nil, "--json", "unknown", into: folder["new"])
        #expect(unknown.exitCode == 66)
        #expect(try unknown.json()["packs"] == [])
    }
}
