import FaultServer
import Foundation
import Testing

/// A wall clock that jumps by a year, before or during a fetch. Only new trust depends on it.
@Suite(.timeLimit(.minutes(10))) struct ClockJumpTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    private let jumpingClock: [String]

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try folder.write("level/noise", Bytes.random(1 << 20, seed: 1))
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try folder.write("clock", "0")
        jumpingClock = try Clock.following(folder["clock"])
    }

    private func run(_ words: [String]) async throws -> CommandResult {
        try await Command.run(words, through: jumpingClock)
    }

    private func fetch(_ url: String, _ options: String...) async throws -> CommandResult {
        try await run(["fetch", url, "--store", testSite.store, "--trust", testSite.root] + options)
    }

    /// A year ahead, metadata have expired.
    @Test func betweenFetches() async throws {
        try await fetch(testSite.site).succeeded()
        try folder.write("level/file", "version 2")
        try await testSite.publish()
        try folder.write("clock", "366")
        try await fetch(testSite.site).failed(76, naming: "expired")
        // Loaded packs open without the site.
        try await run(["unlock", "--store", testSite.store] + testSite.keys).succeeded()
        #expect(try await testSite.status()["level"]?.version == 1)
        try await run(["path", "level", "--store", testSite.store]).succeeded()

        try folder.write("clock", "-366")
        try await fetch(testSite.site, testSite.keys[0], testSite.keys[1]).succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        try folder.write("clock", "0")
        try await fetch(testSite.site).succeeded()
    }

    /// A fetch with verified metadata is finished, and waits are not measured by the wall clock.
    @Test(arguments: ["366", "-366"], [[:], ["Retry-After": "1"], ["Retry-After": "a date"]])
    func whileAPackIsAskedFor(jump: String, headers: [String: String]) async throws {
        let clock = folder["clock"]
        let asked = Counter()
        let server = try FaultServer(testSite.site) { request in
            guard request.isForPack, asked.next() == 1 else { return .file }
            try? Data(jump.utf8).write(to: URL(filePath: clock))
            return .changed { reply in
                reply.status = 503
                for (name, value) in headers { reply.headers[name] = value }
                guard headers["Retry-After"] == "a date" else { return }
                // The host's clock is right.
                reply.headers["Retry-After"] = Self.httpDate(in: 2)
                reply.headers["Date"] = Self.httpDate(in: 0)
            }
        }
        try await fetch(server.url, testSite.keys[0], testSite.keys[1]).succeeded()
        #expect(asked.count > 1)
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        let next = try await fetch(server.url)
        #expect(next.exitCode == (jump == "366" ? 76 : 0), "\(next.errorText)")
        #expect(try await testSite.status()["level"]?.state == "loaded")
    }

    /// The time limit holds although the clock was set back.
    @Test func whileTheTimeRuns() async throws {
        let clock = folder["clock"]
        let server = try FaultServer(testSite.site) { request in
            guard request.isForPack else { return .file }
            try? Data("-366".utf8).write(to: URL(filePath: clock))
            return .changed { $0.pace = (1000, .seconds(1)) }
        }
        let words = ["downloader", server.url, "--store", testSite.store, "--trust", testSite.root]
        let result = try await run(words + ["--request", "install", "--time", "2"])
        #expect(result.exitCode == 75, "\(result.errorText)")
        try await fetch(testSite.site, testSite.keys[0], testSite.keys[1]).succeeded()
    }

    private static func httpDate(in seconds: Double) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: Date(timeIntervalSinceNow: seconds))
    }
}
