import FaultServer
import Foundation
import StrictJSON
import SystemPackage
import Testing
import VaultFileSystem

/// Updates of packs that are kept sealed, through the command and real servers.
@Suite(.timeLimit(.minutes(10))) struct SmallUpdateTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    /// Bytes of version 2.
    let size: Int

    /// Version 1 is in the store, sealed; version 2, with one file changed, is on the site.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        for number in 0..<20 {
            try folder.write("level/\(number)", Bytes.random(200_000, seed: UInt64(number)))
        }
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try await testSite.fetch(nil, "--sealed").succeeded()
        try await testSite.fetch(nil, "--opened", into: folder["opened-store"]).succeeded()
        try folder.write("level/7", Bytes.random(200_000, seed: 77))
        try await testSite.publish()
        size = try folder.bytes("vault/site/\(testSite.publishedPack("level"))").count
    }

    private func expectVersionTwo() async throws {
        #expect(try await testSite.status()["level"]?.version == 2)
        let path = try await testSite.path(of: "level")
        try await Command.run(["open", path, "-o", folder["opened"]] + testSite.keys).succeeded()
        #expect(try Tree(folder["opened"]) == Tree(folder["level"]))
        #expect(try testSite.files(in: "ephemeral") == [])
    }

    private func dryRun(_ url: String) async throws -> (bytes: Int64, requests: Int64) {
        let result = try await testSite.fetch(url, "--dry-run", "--json").succeeded()
        let answer = try result.json()
        let pack = try #require(answer["packs"]?.elements?.first)
        #expect(pack["id"]?.text == "level" && pack["version"]?.number == 2)
        #expect(pack["length"]?.number == Int64(size))
        #expect(answer["bytes"] == pack["bytes"])
        return (try #require(pack["bytes"]?.number), try #require(pack["requests"]?.number))
    }

    @Test func throughNginx() async throws {
        let areas = ["permanent/level", "ephemeral", "permanent/@state"].map { "\(testSite.store)/\($0)" }
        let before = try areas.map { try Tree($0) }
        let planned = try await Nginx.run(over: testSite.site, in: folder) { try await dryRun($0.url) }
        // The metadata are newer; packs, records and downloads are as they were.
        #expect(try areas.map { try Tree($0) } == before)
        try await Nginx.run(over: testSite.site, in: folder) { nginx in
            try await testSite.fetch(nginx.url).succeeded()
            #expect(try nginx.packBytes() == Int(planned.bytes))
        }
        #expect(planned.bytes < 400_000 && planned.requests >= 2)
        try await expectVersionTwo()
    }

    /// A real server without ranges.
    @Test func throughNginxWithoutParts() async throws {
        let settings = "max_ranges 0;"
        let planned = try await Nginx.run(over: testSite.site, in: folder, settings: settings) {
            try await dryRun($0.url)
        }
        #expect(planned.bytes == Int64(size))
        try await Nginx.run(over: testSite.site, in: folder, settings: settings) { nginx in
            let result = try await testSite.fetch(nginx.url).succeeded()
            #expect(result.errorText.contains("sends no parts"), "\(result.errorText)")
            #expect(try nginx.packBytes() == size)
        }
        try await expectVersionTwo()
    }

    /// A store of opened trees needs only the key.
    @Test(arguments: [true, false]) func anOpenedStore(withKeys: Bool) async throws {
        let store = folder["opened-store"]
        try await Nginx.run(over: testSite.site, in: folder) { nginx in
            try await testSite.fetch(nginx.url, into: store, withKeys: withKeys).succeeded()
            let sent = try nginx.packBytes()
            #expect(withKeys ? sent < 400_000 : sent > 4_000_000, "\(sent)")
        }
        try await testSite.fetch(into: store).succeeded()
        #expect(try await testSite.tree(of: "level", in: store) == Tree(folder["level"]))
    }

    @Test func throughServe() async throws {
        try await testSite.served { url in
            let text = try await testSite.fetch(url, "--dry-run").succeeded()
            #expect(text.text.hasPrefix("level  version 2  ") && text.text.contains(" of \(size) bytes in "))
            #expect(try await dryRun(url).bytes < 400_000)
            try await testSite.fetch(url).succeeded()
            let nothing = try await testSite.fetch(url, "--dry-run").succeeded()
            #expect(nothing.text == "" && nothing.errorText.contains("nothing is to be downloaded"))
        }
        try await expectVersionTwo()
    }

    @Test(arguments: [true, false]) func aHostWithoutParts(isDownloader: Bool) async throws {
        let server = try FaultServer(testSite.site) { _ in .wholeFile }
        let result =
            isDownloader
            ? try await Command.run(
                "downloader", server.url, "--store", testSite.store, "--request", "update")
            : try await testSite.fetch(server.url)
        try result.succeeded()
        #expect(server.packs.map(\.status) == [200] && server.packBytes == size)
        #expect(result.errorText.contains("sends no parts"), "\(result.errorText)")
        if isDownloader { try await testSite.fetch(nil, "--sealed").succeeded() }
        try await expectVersionTwo()
    }

    @Test func theDownloaderNeedsNoKey() async throws {
        let server = try FaultServer(testSite.site)
        try await Command.run("downloader", server.url, "--store", testSite.store, "--request", "update")
            .succeeded()
        #expect(server.packBytes < 400_000)
        try await testSite.fetch(server.url, "--sealed").succeeded()
        try await expectVersionTwo()
    }

    /// Killed while it reuses pieces or fetches the rest: nothing is requested twice, and the live version stays.
    @Test(arguments: [
        "tailVerified", "pieceReused:1", "pieceReused:10", "pieceWritten:1", "downloadVerified",
    ])
    func killed(step: String) async throws {
        let server = try FaultServer(testSite.site)
        let fetch = ["fetch", server.url, "--store", testSite.store] + testSite.keys
        #expect(try await Command.run(fetch, dyingAt: step).exitCode == 137)
        #expect(try await testSite.status()["level"]?.version == 1)
        let sent = server.packBytes
        try await Command.run(fetch).succeeded()
        #expect(server.packBytes - sent < 400_000, "\(sent), then \(server.packBytes - sent)")
        if step == "downloadVerified" { #expect(server.packBytes == sent) }
        try await expectVersionTwo()
    }

    /// The host fails while the changed pieces are sent.
    @Test func theHostBreaksOff() async throws {
        let server = try FaultServer(testSite.site) { request in
            request.isForPack && request.earlier == 1 ? .cut(after: 50_000) : .file
        }
        try await testSite.fetch(server.url).succeeded()
        #expect(server.packBytes < 500_000)
        #expect(server.packs.allSatisfy { $0.status == 206 })
        try await expectVersionTwo()
    }

    /// Damage at its beginning, in the middle and in its catalog.
    @Test(arguments: [0, 700_000, -1_000]) func aDamagedOldPack(at place: Int) async throws {
        let current = try await testSite.path(of: "level")
        let path = URL(filePath: current).resolvingSymlinksInPath().path(percentEncoded: false)
        let file = try OpenFile(updating: FilePath(path))
        let offset = UInt64(place < 0 ? size + place : place)
        let flipped = try file.readExactly(1, at: offset).map { $0 ^ 1 }
        try file.write(flipped.span, at: offset)
        try await testSite.fetch().succeeded()
        try await expectVersionTwo()
    }
}
