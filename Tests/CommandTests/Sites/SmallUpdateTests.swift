import FaultServer
import SystemPackage
import TestFiles
import Testing
import VaultBase

/// Updates of packs that are kept sealed, through the command and real servers.
@Suite(.timeLimit(.minutes(10))) struct SmallUpdateTests {
    let world: World
    /// Bytes of version 2.
    let size: Int

    /// Version 1 is in the store, sealed; version 2, with one file changed, is on the site.
    init() async throws {
        world = try await World("level") { world in
            for number in 0..<20 {
                try world.write("level/\(number)", Bytes.random(200_000, seed: UInt64(number)))
            }
        }
        try await world.fetch("--sealed").succeeded()
        try world.write("level/7", Bytes.random(200_000, seed: 77))
        try await world.publish()
        size = try world.publishedBytes(of: "level").count
    }

    private func expectVersionTwo() async throws {
        #expect(try await world.status()["level"]?.version == 2)
        let path = try await world.path(of: "level")
        try await world.run("open \(path) -o $WORK/opened $KEYS").succeeded()
        #expect(try Tree(world["opened"]) == Tree(world["level"]))
        #expect(try world.files(in: "ephemeral") == [])
    }

    private func dryRun(_ url: String) async throws -> (bytes: Int64, requests: Int64) {
        let result = try await world.fetch("--dry-run --json", from: url).succeeded()
        let answer = try result.json()
        let pack = try #require(answer["packs"]?.elements?.first)
        #expect(pack["id"]?.text == "level" && pack["version"]?.number == 2)
        #expect(pack["length"]?.number == Int64(size))
        #expect(answer["bytes"] == pack["bytes"])
        return (try #require(pack["bytes"]?.number), try #require(pack["requests"]?.number))
    }

    @Test func throughNginx() async throws {
        let areas = ["permanent/level", "ephemeral", "permanent/@state"].map { "\(world.store)/\($0)" }
        let before = try areas.map { try Tree($0) }
        let planned = try await Nginx.run(over: world.site) { try await dryRun($0.url) }
        // The metadata are newer; packs, records and downloads are as they were.
        #expect(try areas.map { try Tree($0) } == before)
        try await Nginx.run(over: world.site) { nginx in
            try await world.fetch(from: nginx.url).succeeded()
            #expect(try nginx.packBytes() == Int(planned.bytes))
        }
        #expect(planned.bytes < 400_000 && planned.requests >= 2)
        try await expectVersionTwo()
    }

    /// A real server without ranges.
    @Test func throughNginxWithoutParts() async throws {
        let settings = "max_ranges 0;"
        let planned = try await Nginx.run(over: world.site, settings: settings) {
            try await dryRun($0.url)
        }
        #expect(planned.bytes == Int64(size))
        try await Nginx.run(over: world.site, settings: settings) { nginx in
            let result = try await world.fetch(from: nginx.url).succeeded()
            #expect(result.errorText.contains("sends no parts"), "\(result.errorText)")
            #expect(try nginx.packBytes() == size)
        }
        try await expectVersionTwo()
    }

    @Test func throughServe() async throws {
        try await world.whileRunning("serve $SITE") { server in
            let url = try await server.firstLine()
            let text = try await world.fetch("--dry-run", from: url).succeeded()
            #expect(text.text.hasPrefix("level  version 2  ") && text.text.contains(" of \(size) bytes in "))
            #expect(try await dryRun(url).bytes < 400_000)
            try await world.fetch(from: url).succeeded()
            let nothing = try await world.fetch("--dry-run", from: url).succeeded()
            #expect(nothing.text == "" && nothing.errorText.contains("nothing is to be downloaded"))
        }
        try await expectVersionTwo()
    }

    @Test(arguments: [true, false]) func aHostWithoutParts(isDownloader: Bool) async throws {
        let server = try FaultServer(world.site) { _ in .wholeFile }
        let result =
            isDownloader
            ? try await world.download("update", from: server.url)
            : try await world.fetch(from: server.url)
        try result.succeeded()
        #expect(try await server.packBytesAtRest == size)
        #expect(server.packs.map(\.status) == [200])
        #expect(result.errorText.contains("sends no parts"), "\(result.errorText)")
        if isDownloader { try await world.fetch("--sealed").succeeded() }
        try await expectVersionTwo()
    }

    /// Killed while it reuses pieces or fetches the rest: nothing is requested twice, and the live version stays.
    @Test(arguments: [
        "tailVerified", "pieceReused:1", "pieceReused:10", "pieceWritten:1", "downloadVerified",
    ])
    func killed(step: String) async throws {
        let server = try FaultServer(world.site)
        // Nothing rests on a version that has another time: its pieces are copied.
        if step.hasPrefix("pieceReused") { try await Tool.run("touch", world.path(of: "level")) }
        #expect(try await world.fetch(from: server.url, dyingAt: step).exitCode == 137)
        #expect(try await world.status()["level"]?.version == 1)
        let sent = try await server.packBytesAtRest
        try await world.fetch(from: server.url).succeeded()
        let sentAgain = try await server.packBytesAtRest - sent
        #expect(sentAgain < 400_000, "\(sent), then \(sentAgain)")
        if step == "downloadVerified" { #expect(sentAgain == 0) }
        try await expectVersionTwo()
    }

    /// The host fails while the changed pieces are sent.
    @Test func theHostBreaksOff() async throws {
        let server = try FaultServer(world.site) { request in
            request.isForPack && request.earlier == 1 ? .cut(after: 50_000) : .file
        }
        try await world.fetch(from: server.url).succeeded()
        #expect(server.packBytes < 500_000)
        #expect(server.packs.allSatisfy { $0.status == 206 })
        try await expectVersionTwo()
    }

    /// Damage at its beginning, in the middle and in its catalog.
    @Test(arguments: [0, 700_000, -1_000]) func aDamagedOldPack(at place: Int) async throws {
        let name = try #require(world.files(in: "permanent/level").first { $0.hasSuffix(".avpack") })
        try world.flipBit(of: "store/permanent/level/\(name)", at: place)
        try await world.fetch().succeeded()
        try await expectVersionTwo()
    }
}
