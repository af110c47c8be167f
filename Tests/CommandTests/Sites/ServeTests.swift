import Foundation
import Testing

/// The development server as a process; its own tests compare its answers with nginx's.
struct ServeTests {
    let testSite: TestSite
    init() async throws { testSite = try await TestSite() }

    @Test func printsItsURLWhenItIsReady() async throws {
        try await testSite.served { url in
            #expect(url.wholeMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+\//) != nil, "\(url)")
            let answer = try await Tool.run("curl", "--silent", "--fail", "\(url)metadata/1.root.json")
            #expect(answer.output == (try testSite.folder.bytes("vault/trusted-root.json")))
            let part = try await Tool.run(
                "curl", "--silent", "--include", "--range", "0-9", "\(url)metadata/1.root.json")
            #expect(part.text.hasPrefix("HTTP/1.1 206"))
        }
    }

    @Test func listensOnTheGivenPort() async throws {
        let port = try ListeningSocket().port
        try await Command.whileRunning(["serve", testSite.site, "--port", "\(port)"]) { server in
            #expect(try await server.firstLine() == "http://127.0.0.1:\(port)/")
            try await Command.run("serve", testSite.site, "--port", "\(port)").failed(75, naming: "\(port)")
        }
    }

    /// Files beside the site, such as keys, are not served.
    @Test func servesNothingElse() async throws {
        try await testSite.served { url in
            for path in [
                "../keys/vault.jwks", "metadata/../../keys/vault.jwks", "%2e%2e/keys/vault.jwks",
                "../vault.json",
            ] {
                let answer = try await Tool.run(
                    "curl", "--silent", "--path-as-is", "--write-out", "%{http_code}", "\(url)\(path)")
                #expect(answer.text.hasSuffix("404"), "\(path): \(answer.text)")
            }
        }
    }

    /// What curl gets of a pack of 100,000 bytes and of the timestamp, after a second publishing.
    private func answers(_ options: [String]) async throws -> (pack: CurlAnswer, isStale: Bool) {
        try testSite.folder.write("game/noise", (0..<100_000).map { _ in UInt8.random(in: 0...255) })
        try await testSite.publish("--pack", "game=\(testSite.folder["game"])")
        let pack = try testSite.publishedPack("game")
        let timestamp = "vault/site/metadata/timestamp.json"
        let old = try testSite.folder.bytes(timestamp)
        return try await Command.whileRunning(["serve", testSite.site] + options) { server in
            let url = try await server.firstLine()
            try await testSite.publish("--pack", "other=\(testSite.folder["game"])")
            let answer = try await CurlAnswer("\(url)\(pack)")
            let served = try await Tool.run(["curl", "--silent", "\(url)metadata/timestamp.json"])
            return (answer, served.output == old)
        }
    }

    /// Each option does what it says, and nothing else.
    @Test(
        arguments: [
            ([], .whole), (["--throttle", "50KB"], .slow), (["--latency", "1000"], .late),
            (["--fail-after", "3KB"], .cut(3000)), (["--truncate", "3KB"], .truncated(3000)),
            (["--stale"], .stale), (["--offline-after", "0"], .refused), (["--error-rate", "1"], .failing),
        ] as [([String], Outcome)])
    func aBadNetwork(options: [String], outcome: Outcome) async throws {
        let (answer, isStale) = try await answers(options)
        let bytes = try testSite.folder.bytes("vault/site/\(try testSite.publishedPack("game"))").count
        #expect(isStale == (outcome == .stale))
        switch outcome {
        case .late: #expect(answer.firstByte > 1 && answer.size == bytes, "\(answer)")
        case .slow: #expect(answer.time - answer.firstByte > 1.5 && answer.size == bytes, "\(answer)")
        case .cut(let count): #expect(answer.exitCode == 18 && answer.size == count)
        case .truncated(let count): #expect(answer.exitCode == 0 && answer.size == bytes - count)
        case .refused: #expect(answer.exitCode == 7)
        case .failing: #expect(answer.exitCode == 0 && answer.status == 503)
        default: #expect(answer.exitCode == 0 && answer.status == 200 && answer.size == bytes)
        }
    }

    enum Outcome: Equatable {
        case whole, slow, late
        case cut(Int)
        case truncated(Int)
        case stale, refused, failing
    }

    /// What the options broke stands on standard error, so that nobody takes it for a bug of the app.
    @Test(
        arguments: [
            (["--error-rate", "1"], "fault: status 503 for /metadata/1.root.json\n"),
            (["--fail-after", "10"], "bytes of /metadata/1.root.json\n"), ([], nil),
        ] as [([String], String?)])
    func aFaultIsNamed(options: [String], expected: String?) async throws {
        let errors = testSite.folder["errors"]
        try await Command.whileRunning(
            ["serve", testSite.site] + options, through: ["sh", "-c", "exec \"$@\" 2>'\(errors)'", "sh"]
        ) { server in
            let url = try await server.firstLine()
            _ = try await CurlAnswer("\(url)metadata/1.root.json")
        }
        let text = try String(decoding: testSite.folder.bytes("errors"), as: UTF8.self)
        #expect(expected.map { text.hasSuffix($0) } ?? text.isEmpty, "\(text)")
    }

    /// The same requests fail with the same seed.
    @Test func aSeed() async throws {
        func statuses(_ seed: String) async throws -> [Int] {
            try await Command.whileRunning(
                ["serve", testSite.site, "--error-rate", "0.5", "--seed", seed]
            ) { server in
                let url = try await server.firstLine()
                var found: [Int] = []
                for _ in 0..<16 { found.append(try await CurlAnswer("\(url)metadata/1.root.json").status) }
                return found
            }
        }
        let first = try await statuses("7")
        #expect(Set(first) == [200, 503])
        #expect(try await statuses("7") == first)
        #expect(try await statuses("8") != first)
    }

    /// The client tells a network that is gone from a host that fails.
    @Test func anAppWithoutANetwork() async throws {
        try await Command.whileRunning(["serve", testSite.site, "--offline-after", "0"]) { server in
            let result = try await testSite.fetch(try await server.firstLine())
            result.failed(68, naming: "127.0.0.1")
        }
    }

    @Test func needsASite() async throws {
        try await Command.run("serve", testSite.folder["nowhere"]).failed(
            66, naming: testSite.folder["nowhere"])
        try await Command.run("serve", testSite.vault).failed(66, naming: testSite.vault)
        try await Command.run("serve", "http://127.0.0.1:1/").failed(
            66, naming: "takes a site's folder, no URL")
        try await Command.run("serve", testSite.site, "--port", "70000").failed(64)
    }
}

/// What curl says of one request.
struct CurlAnswer {
    let exitCode: Int32
    let status: Int
    /// Bytes of the body that came.
    let size: Int
    /// Seconds until the first byte, and the last one.
    let firstByte: Double
    let time: Double

    init(_ url: String) async throws {
        let result = try await Tool.run([
            "curl", "--silent", "--output", "/dev/null", "--write-out",
            "%{http_code} %{size_download} %{time_starttransfer} %{time_total}", url,
        ])
        let words = result.text.split(separator: " ").map(String.init)
        try #require(words.count == 4, "\(result.text)")
        exitCode = result.exitCode
        status = try #require(Int(words[0]))
        size = try #require(Int(words[1]))
        firstByte = try #require(Double(words[2]))
        time = try #require(Double(words[3]))
    }
}
