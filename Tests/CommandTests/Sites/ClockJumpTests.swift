import FaultServer
import Foundation
import Testing

/// A wall clock that jumps by a year, before or during a fetch. Only new trust depends on it.
@Suite(.timeLimit(.minutes(10))) struct ClockJumpTests {
    let world: World
    private let jumpingClock: [String]

    init() async throws {
        world = try await World("level") {
            try $0.write("level/file", "version 1")
            try $0.write("level/noise", Bytes.random(1 << 20, seed: 1))
        }
        try world.write("clock", "0")
        jumpingClock = try Clock.following(world["clock"])
    }

    private func run(_ words: Words) async throws -> CommandResult {
        try await world.run(words, through: jumpingClock)
    }

    private func fetch(_ url: String, withKeys: Bool = false) async throws -> CommandResult {
        try await world.fetch(from: url, withKeys: withKeys, through: jumpingClock)
    }

    /// A year ahead, metadata have expired.
    @Test func betweenFetches() async throws {
        try await fetch(world.site).succeeded()
        try await world.publish(level: "version 2")
        try world.write("clock", "366")
        try await fetch(world.site).failed(76, naming: "expired")
        // Loaded packs open without the site.
        try await run("unlock $STORE $KEYS").succeeded()
        #expect(try await world.status()["level"]?.version == 1)
        try await run("path level $STORE").succeeded()

        try world.write("clock", "-366")
        try await fetch(world.site, withKeys: true).succeeded()
        try await world.expectLoaded("level")
        try world.write("clock", "0")
        try await fetch(world.site).succeeded()
    }

    /// A fetch with verified metadata is finished, and waits are not measured by the wall clock.
    @Test(arguments: ["366", "-366"], [[:], ["Retry-After": "1"], ["Retry-After": "a date"]])
    func whileAPackIsAskedFor(jump: String, headers: [String: String]) async throws {
        let clock = world["clock"]
        let asked = Counter()
        let server = try FaultServer(world.site) { request in
            guard request.isForPack, asked.next() == 1 else { return .file }
            try? Data(jump.utf8).write(to: URL(filePath: clock))
            return .changed { reply in
                reply.status = 503
                for (name, value) in headers { reply.headers[name] = value }
                guard headers["Retry-After"] == "a date" else { return }
                // The host's clock is right.
                reply.headers["Retry-After"] = Date(timeIntervalSinceNow: 2).inHTTP
                reply.headers["Date"] = Date.now.inHTTP
            }
        }
        try await fetch(server.url, withKeys: true).succeeded()
        #expect(asked.count > 1)
        try await world.expectLoaded("level")
        let next = try await fetch(server.url)
        #expect(next.exitCode == (jump == "366" ? 76 : 0), "\(next.errorText)")
        #expect(try await world.status()["level"]?.state == "loaded")
    }

    /// The time limit holds although the clock was set back.
    @Test func whileTheTimeRuns() async throws {
        let clock = world["clock"]
        let server = try FaultServer(world.site) { request in
            guard request.isForPack else { return .file }
            try? Data("-366".utf8).write(to: URL(filePath: clock))
            return .changed { $0.pace = (1000, .seconds(1)) }
        }
        let result = try await run("downloader \(server.url) $STORE $TRUST --request install --time 2")
        #expect(result.exitCode == 75, "\(result.errorText)")
        try await fetch(world.site, withKeys: true).succeeded()
    }
}
