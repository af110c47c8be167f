import FaultServer
import Sampling
import Testing
import VaultBase

/// The reports of `downloader`.
struct DownloaderReportTests {
    let world: World

    init() async throws { world = try await World("first", "second", "third") }

    private func run(_ server: FaultServer, _ options: String...) async throws -> CommandResult {
        try await world.run("downloader \(server.url) $STORE $TRUST --request install --json \(options)")
    }

    /// Completed work is reported when the time is up.
    @Test(arguments: [0, 1]) func reportsProgressWhenTheTimeIsUp(failed: Int) async throws {
        let server = try FaultServer(world.site) { request in
            if request.path.hasSuffix("second.avpack") { return .steps([.hang]) }
            return failed == 1 && request.path.hasSuffix("first.avpack") ? .status(404) : .file
        }
        let result = try await withEnoughTime { time in
            try await Tool.run("rm", "-rf", world.store)
            let seconds = "\(time.components.seconds)"
            let result = try await run(server, "--time", seconds, "--parallel", "1")
            return server.packs.contains { $0.request.path.hasSuffix("second.avpack") } ? result : nil
        }
        #expect(result.exitCode == 75)
        #expect(result.errorText.contains("the time is up: 2 of 3 packs are left"), "\(result.errorText)")
        let packs = try #require(try result.json()["packs"]?.elements)
        #expect(packs.map { $0["id"]?.text } == ["first", "second", "third"])
        #expect(packs[0]["state"]?.text == (failed == 1 ? nil : "toBeTransferred"))
        for pack in packs[1...] {
            #expect(pack["failure"] == "the time is up" && pack["category"] == "busy")
        }
        // None of this is recorded as a failure.
        #expect(try await world.status().values.filter { $0.state == "failed" }.count == failed)
    }

    @Test func reportsDisallowedPacks() async throws {
        let result = try await run(try FaultServer(world.site), "--allowance", "1")
        #expect(result.exitCode == 78, "\(result.errorText)")
        let json = try result.json()
        #expect(json["packs"]?.elements?.isEmpty == true)
        let refusals = try #require(json["refusals"]?.elements)
        #expect(refusals.map { $0["place"]?.text } == ["first", "second", "third"])
        #expect(refusals.allSatisfy { $0["category"] == "limit" && $0["failure"]?.text?.isEmpty == false })
    }

    /// Scripts get JSON in every case.
    @Test func answersJSONWithoutMetadata() async throws {
        let result = try await run(try FaultServer(world.site) { _ in .status(403) })
        #expect(result.exitCode == 69, "\(result.errorText)")
        let refusals = try #require(try result.json()["refusals"]?.elements)
        #expect(refusals.map { $0["category"]?.text } == ["unavailable"])
    }
}
