import FaultServer
import Sampling
import TestFiles
import Testing

/// Interrupted downloads that resume.
struct ResumedDownloadTests {
    let world: World
    /// Bytes of the pack.
    let size: Int

    /// Much more than a piece.
    private static let noise = Bytes.random(48 << 20, seed: 1)

    init() async throws {
        world = try await World("level") { try $0.write("level/noise", Self.noise) }
        size = try world.publishedBytes(of: "level").count
    }

    /// Fetches from a host that stops after half. Returns how many bytes of the pack it sent.
    @discardableResult
    private func interrupt(withKeys: Bool = true) async throws -> Int {
        let dying = try FaultServer.dying(world.site, after: size / 2)
        let result = try await world.fetch(from: dying.url, withKeys: withKeys)
        #expect(result.exitCode == 69, "\(result.errorText)")
        return dying.packBytes
    }

    private func expectLoaded() async throws {
        try await world.expectLoaded("level")
        #expect(try await world.status()["level"]?.state == "loaded")
        #expect(try world.files(in: "ephemeral") == [])
    }

    /// The host stops and restarts at once: the same fetch requests only the rest.
    @Test func aHostThatRestarts() async throws {
        let half = size / 2
        let server = try FaultServer(world.site) {
            $0.isForPack && $0.earlier == 1 ? .cut(after: half) : .file
        }
        try await world.fetch(from: server.url).succeeded()
        // The tail, the pieces, and the rest of the pieces.
        #expect(server.packs.map(\.status) == [206, 206, 206])
        // No byte of them twice: an incomplete piece is completed.
        #expect(server.packBytes <= size, "\(server.packBytes) of \(size)")
        try await expectLoaded()
    }

    /// The host stays down until the fetch fails; any later fetch uses what it sent.
    @Test(arguments: [true, false]) func aHostThatStaysDown(withKeys: Bool) async throws {
        let sent = try await interrupt(withKeys: withKeys)
        let parts = try world.files(in: "ephemeral")
        #expect(parts.count == 1 && parts[0].hasSuffix(".part"))
        let mirror = try FaultServer(world.site)
        try await world.fetch(from: mirror.url).succeeded()
        #expect(mirror.packs.map(\.status) == [206])
        // What is lost is an incomplete piece.
        #expect(sent + mirror.packBytes <= size + 2 << 20, "\(sent) + \(mirror.packBytes) of \(size)")
        try await expectLoaded()
    }

    /// A real server, restarted during a download.
    @Test func nginxIsRestarted() async throws {
        let port = try ListeningSocket().port
        let fetch = try await Nginx.run(
            over: world.site, settings: "limit_rate_after 24m; limit_rate 1k;", port: port
        ) { nginx in
            let fetch = Task { try await world.fetch(from: nginx.url) }
            try await wait(for: "a quarter") { try world.partialBytes() >= size / 4 }
            return fetch
        }
        let before = try world.partialBytes()
        #expect(before < size)
        try await Nginx.run(over: world.site, port: port) { nginx in
            let result = try await fetch.value
            // On a busy machine it may have given up before the server was back.
            if result.exitCode == 69 { try await world.fetch(from: nginx.url).succeeded() }
            let after = try nginx.packBytes()
            #expect(after > 0 && before + after <= size * 11 / 10, "\(before) + \(after) of \(size)")
        }
        try await expectLoaded()
    }

    /// The command's own server continues the download.
    @Test func serveSupportsRanges() async throws {
        try await interrupt()
        try await world.whileRunning("serve $SITE") { server in
            try await world.fetch(from: try await server.firstLine()).succeeded()
        }
        try await expectLoaded()
    }

    @Test func aHostWithoutRangesSendsAllAgain() async throws {
        let (file, half) = (try world.publishedBytes(of: "level"), size / 2)
        let server = try FaultServer(world.site) {
            !$0.isForPack
                ? .file : $0.earlier == 0 ? .bytes(Array(file.prefix(half)), length: file.count) : .wholeFile
        }
        try await world.fetch(from: server.url).succeeded()
        #expect(server.packs.map(\.status) == [200, 200])
        #expect(server.packs.map { $0.request.range != nil } == [true, false])
        try await expectLoaded()
    }

    /// A damaged piece of an earlier attempt is detected and fetched again, and only that one.
    @Test(arguments: [true, false]) func aDamagedPartialDownload(withKeys: Bool) async throws {
        let sent = try await interrupt(withKeys: withKeys)
        let area = withKeys ? "permanent" : "ephemeral"
        let part = try #require(
            try world.files(in: area).first {
                $0.hasSuffix(".part") || $0.contains(".arriving/") && $0.hasSuffix("noise")
            })
        try world.flipBit(of: "store/\(area)/\(part)", at: size / 4)
        let server = try FaultServer(world.site)
        try await world.fetch(from: server.url).succeeded()
        #expect(server.packs.map(\.status) == [206, 206])
        #expect(sent + server.packBytes <= size * 11 / 10, "\(sent) + \(server.packBytes) of \(size)")
        try await expectLoaded()
    }

    /// Ephemeral storage may be deleted at any time.
    @Test func aMissingPartialDownload() async throws {
        try await interrupt()
        try world.remove("store/ephemeral")
        try await world.fetch().succeeded()
        try await expectLoaded()
    }
}
