import FaultServer
import Sampling
import TestFiles
import Testing
import VaultBase

/// Publishing without a local site: from the hosted files.
struct HostedPublishTests {
    let world: World

    /// A large pack of prose and noise, and a small one.
    init() async throws {
        world = try await World("level", "other") { world in
            try world.write("level/noise", Self.noise)
            for (number, text) in Self.prose.enumerated() { try world.write("level/prose/\(number)", text) }
            try world.write("other/file", "another pack")
        }
    }

    private static let noise = Bytes.random(3 << 20, seed: 1)
    private static let prose = (0..<20).map { prose(from: $0 * 1000, to: $0 * 1000 + 3000) }

    private static func prose(from first: Int, to last: Int) -> String {
        (first..<last).map { "line \($0 &* 2_654_435_761 % 9973)" }.joined(separator: "\n")
    }

    private func change() throws { try world.write("level/prose/7", Self.prose(from: 5, to: 2005)) }

    /// Uploads, and expects a complete site from which an old client gets the sources unchanged; `fault` is what an audit
    /// finds wrong with the host.
    private func expectNewSite(from runner: Runner, _ url: String, fault: String? = nil) async throws {
        try await runner.upload()
        let audit = try await world.run("audit \(url) $TRUST")
        #expect(audit.exitCode == (fault == nil ? 0 : 69), "\(audit.errorText)")
        #expect(audit.errorText.split(separator: "\n").count == (fault == nil ? 0 : 1), "\(audit.errorText)")
        if let fault { #expect(audit.errorText.contains(fault), "\(audit.errorText)") }
        try await world.fetch(from: url).succeeded()
        try await world.expectLoaded("level")
    }

    private func expectUpdate(at url: String) async throws {
        try await world.fetch(from: url).succeeded()
        let runner = try await Runner(of: world)
        // Nothing has changed yet.
        let first = try await runner.publish(against: url).succeeded()
        #expect(first.errorText == "nothing changed\n", "\(first.errorText)")
        #expect(try runner.written() == [])

        try change()
        let second = try await runner.publish(against: url).succeeded()
        #expect(second.text.contains("updated  level  version 2"), "\(second.text)")
        #expect(second.text.contains("unchanged  1 pack\n"), "\(second.text)")
        let written = try runner.written()
        #expect(written.count == 4 && written[3].hasSuffix(".level.avpack"), "\(written)")
        #expect(
            written[..<3] == [
                "metadata/2.snapshot.json", "metadata/2.targets.json", "metadata/timestamp.json",
            ])
        try await expectNewSite(from: runner, url)

        // A local publication makes the same pack.
        try await world.publish()
        #expect(try world.publishedPack("level") == written[3])
        #expect(
            try world.bytes("vault/site/\(written[3])")
                == world.bytes("\(runner.name)/vault/site/\(written[3])"))
    }

    @Test func fromTheDevelopmentServer() async throws {
        _ = try await Runner(of: world, named: "first")
        try await world.whileRunning("serve \(world["host"])") { server in
            try await expectUpdate(at: try await server.firstLine())
        }
    }

    @Test func fromNginx() async throws {
        _ = try await Runner(of: world, named: "first")
        try await Nginx.run(over: world["host"]) { nginx in
            try await expectUpdate(at: nginx.url)
        }
    }

    /// Only index and catalog of the changed pack are downloaded, no piece, and nothing of the unchanged pack.
    @Test func onlyIndexAndCatalogAreDownloaded() async throws {
        let runner = try await Runner(of: world)
        let server = try FaultServer(runner.host)
        try change()
        let report = try await runner.publish("--json", against: server.url).succeeded().json()
        // As many pieces are reused as with a local old pack.
        #expect(try await world.publish("--json").json()["packs"] == report["packs"])
        #expect(
            server.packs.allSatisfy { $0.status == 206 } && server.packBytes < 20_000, "\(server.packBytes)")
        #expect(server.packs.count == 1)
        #expect(report["warnings"] == [])
    }

    /// Where sealing gives other bytes, as with another compressor, the host's pieces are reused.
    @Test func unchangedPiecesStayByteForByte() async throws {
        let runner = try await Runner(of: world)
        let server = try FaultServer(runner.host)
        try change()
        let report = try await runner.publish("--compression max --json", against: server.url).succeeded()
            .json()
        let onTheSpot = try await world.publish("--compression max --json").json()
        #expect(report["packs"] == onTheSpot["packs"])
        #expect(try runner.written().last == world.publishedPack("level"))
        // No bytes of the noise were needed.
        #expect(server.packBytes > 50_000 && server.packBytes < 2 << 20, "\(server.packBytes)")
        try await world.fetch(from: server.url).succeeded()
        try await expectNewSite(from: runner, server.url)
    }

    /// A host without ranges sends whole packs, which is reported.
    @Test func aHostWithoutRanges() async throws {
        let runner = try await Runner(of: world)
        let server = try FaultServer(runner.host) { _ in .wholeFile }
        try change()
        let result = try await runner.publish(against: server.url).succeeded()
        #expect(result.errorText.contains("warning: the host sends no parts of files: a pack came whole"))
        #expect(try runner.written().count == 4)
        try await world.fetch(from: server.url).succeeded()
        try await expectNewSite(from: runner, server.url, fault: "the host ignores Range requests")
    }

    /// A host that supports ranges now and then, as several machines behind one name may.
    @Test func aHostThatIgnoresSomeRanges() async throws {
        let runner = try await Runner(of: world)
        let server = try FaultServer(runner.host) { request in
            request.isForPack && request.earlier > 0 ? .wholeFile : .file
        }
        try change()
        // Pieces that seal to other bytes are fetched.
        try await runner.publish("--compression max", against: server.url).succeeded()
        try await world.fetch(from: server.url).succeeded()
        try await expectNewSite(from: runner, server.url, fault: "Range requests: each update")
    }

    /// When it is killed, either all relevant files exist or none; the next run succeeds.
    @Test(arguments: ["renameat2", "fsync"]) func killedAtEachStep(call: String) async throws {
        let server = try FaultServer(try await Runner(of: world, named: "none").host)
        try change()
        let numbers =
            [1] + Sampling.numbers(2...60, each: 8, for: "HostedPublishTests.killedAtEachStep \(call)")
        try await Killing.atEach(call, numbers) { number, wrapper in
            let runner = try await Runner(of: world, named: "runner-\(number)")
            let result = try await runner.publish(against: server.url, through: wrapper)
            let names = try runner.written()
            let isComplete = names.contains("metadata/timestamp.json")
            #expect(!isComplete || names.count == 4, "\(names)")
            let again = try await runner.publish(against: server.url)
            if isComplete {
                again.failed(76, naming: "upload \(runner.site) first")
            } else {
                try again.succeeded()
            }
            #expect(try runner.written().count == 4 && !runner.hasScratch())
            guard result.exitCode == 0 else { return result }
            try await world.fetch(from: server.url).succeeded()
            try await expectNewSite(from: runner, server.url)
            return result
        }
    }
}
