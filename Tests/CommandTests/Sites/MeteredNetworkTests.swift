import FaultServer
import Testing

/// What comes over a metered network.
struct MeteredNetworkTests {
    let world: World

    init() async throws {
        world = try await World()
        let noise = (0..<20_000).map { _ in UInt8.random(in: 0...255) }
        for name in ["start", "later", "asked"] { try world.write("\(name)/file", noise) }
        try world.write(
            "vault/vault.json",
            """
            {"format": 1, "packs": {
              "start": {"source": "../start", "policy": "essential"},
              "later": {"source": "../later"},
              "asked": {"source": "../asked", "policy": "onDemand", "tags": ["level"]}}}
            """)
        try await world.publish()
    }

    /// Nobody asked for the prefetch pack.
    @Test func prefetchPacksAreLeft() async throws {
        try await world.fetch("--metered").succeeded()
        #expect(try await world.loaded() == ["start"])
        try await world.fetch().succeeded()
        #expect(try await world.loaded() == ["later", "start"])
    }

    @Test func anAllowance() async throws {
        try await world.fetch("--metered-allowance 1KB").failed(64, naming: "--metered")
        let limited: Words = "--metered --metered-allowance 1KB"
        try await world.fetch("asked \(limited)").failed(
            78, naming: "asked", "the 1000 that may come over a metered network")
        try await world.run("access level $STORE --site $SITE $TRUST $KEYS \(limited) -- true").failed(
            78, naming: "metered network")
        #expect(try await world.loaded().isEmpty)
        // What it costs is reported all the same.
        let costs = try await world.fetch("asked \(limited) --dry-run").succeeded()
        #expect(costs.text.contains("asked"))
        try await world.fetch("asked --metered --metered-allowance 100KB").succeeded()
        #expect(try await world.loaded() == ["asked"])
    }

    /// A host that hides each byte of a pack in a long chunk extension, or sends hints before each answer, sends no more than allowed.
    @Test(arguments: [true, false]) func bytesBesideThePacks(isChunked: Bool) async throws {
        let noise = String(repeating: "x", count: 600)
        let server = try FaultServer(world.site) { request in
            guard request.isForPack else { return .file }
            return .changed { reply in
                if isChunked {
                    reply.headers["Content-Length"] = nil
                    reply.headers["Transfer-Encoding"] = "chunked"
                    let chunks = reply.body.flatMap { byte -> [UInt8] in
                        Array("1;\(noise)\r\n".utf8) + [byte, 13, 10]
                    }
                    reply.body = chunks + Array("0\r\n\r\n".utf8)
                } else {
                    let hint = "HTTP/1.1 103 Hints\r\nLink: \(noise)\r\n\r\n"
                    reply.body = Array(String(repeating: hint, count: 20_000).utf8)
                    reply.status = 103
                    reply.headers = [:]
                }
            }
        }
        try await world.fetch("asked --metered --metered-allowance 100KB", from: server.url).failed(
            69, naming: "asked", "beside what was asked for")
        // Each of a few attempts ends early, and what the system's buffers hold comes in addition.
        #expect(server.sent < 5 * 6_000_000, "\(server.sent)")
    }
}
