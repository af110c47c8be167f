import FaultServer
import Foundation
import SystemPackage
import Testing
import VaultFileSystem

/// Interrupted downloads that resume.
struct ResumedDownloadTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    /// Bytes of the pack.
    let size: Int

    /// Much more than is lost in transit when a connection breaks.
    private static let noise = Bytes.random(48 << 20, seed: 1)

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/noise", Self.noise)
        try await testSite.publish("--pack", "level=\(folder["level"])")
        size = try folder.bytes("vault/site/\(testSite.publishedPack("level"))").count
    }

    /// Fetches from a host that stops after half. Returns how many bytes of the pack it sent.
    @discardableResult
    private func interrupt(withKeys: Bool = true) async throws -> Int {
        let half = size / 2
        let dying = try FaultServer(testSite.site) {
            DyingHost.answer($0, cutAfter: half)
        }
        let result = try await testSite.fetch(dying.url, withKeys: withKeys)
        #expect(result.exitCode == 69, "\(result.errorText)")
        return dying.packBytes
    }

    private func expectLoaded() async throws {
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        #expect(try await testSite.status()["level"]?.state == "loaded")
        #expect(try testSite.files(in: "ephemeral") == [])
    }

    /// The host stops and restarts at once: the same fetch requests only the rest.
    @Test func aHostThatRestarts() async throws {
        let half = size / 2
        let server = try FaultServer(testSite.site) {
            $0.isForPack && $0.earlier == 1 ? .cut(after: half) : .file
        }
        try await testSite.fetch(server.url).succeeded()
        // The tail, the pieces, and the rest of the pieces.
        #expect(server.packs.map(\.status) == [206, 206, 206])
        #expect(server.packBytes <= size * 11 / 10, "\(server.packBytes) of \(size)")
        try await expectLoaded()
    }

    /// The host stays down until the fetch fails; any later fetch uses what it sent.
    @Test(arguments: [true, false]) func aHostThatStaysDown(withKeys: Bool) async throws {
        let sent = try await interrupt(withKeys: withKeys)
        let parts = try testSite.files(in: "ephemeral")
        #expect(parts.count == 1 && parts[0].hasSuffix(".part"))
        let mirror = try FaultServer(testSite.site)
        try await testSite.fetch(mirror.url).succeeded()
        #expect(mirror.packs.map(\.status) == [206])
        #expect(sent + mirror.packBytes <= size * 11 / 10, "\(sent) + \(mirror.packBytes) of \(size)")
        try await expectLoaded()
    }

    /// A real server, restarted during a download.
    @Test func nginxIsRestarted() async throws {
        let port = try ListeningSocket().port
        let fetch = try await Nginx.run(
            over: testSite.site, in: folder, settings: "limit_rate 8m;", port: port
        ) { nginx in
            let fetch = Task { try await testSite.fetch(nginx.url) }
            while try downloadedBytes() < size / 4 { try await Task.sleep(for: .milliseconds(20)) }
            return fetch
        }
        let before = try downloadedBytes()
        #expect(before < size)
        try await Nginx.run(over: testSite.site, in: folder, port: port) { nginx in
            let result = try await fetch.value
            // On a busy machine it may have given up before the server was back.
            if result.exitCode == 69 { try await testSite.fetch(nginx.url).succeeded() }
            let after = try nginx.packBytes()
            #expect(after > 0 && before + after <= size * 11 / 10, "\(before) + \(after) of \(size)")
        }
        try await expectLoaded()
    }

    private func downloadedBytes() throws -> Int {
        guard try folder.exists("store/ephemeral") else { return 0 }
        return try folder.names(in: "store/ephemeral").reduce(0) {
            try $0 + folder.dataCount(of: "store/ephemeral/\($1)")
        }
    }

    /// The command's own server continues the download.
    @Test func serveSupportsRanges() async throws {
        try await interrupt()
        try await testSite.served { url in
            try await testSite.fetch(url).succeeded()
        }
        try await expectLoaded()
    }

    @Test func aHostWithoutRangesSendsAllAgain() async throws {
        let (file, half) = (try folder.bytes("vault/site/\(testSite.publishedPack("level"))"), size / 2)
        let server = try FaultServer(testSite.site) {
            !$0.isForPack
                ? .file : $0.earlier == 0 ? .bytes(Array(file.prefix(half)), length: file.count) : .wholeFile
        }
        try await testSite.fetch(server.url).succeeded()
        #expect(server.packs.map(\.status) == [200, 200])
        #expect(server.packs.map { $0.request.range != nil } == [true, false])
        try await expectLoaded()
    }

    /// A damaged piece of an earlier attempt is detected and fetched again, and only that one.
    @Test func aDamagedPartialDownload() async throws {
        let sent = try await interrupt()
        let part = try #require(try testSite.files(in: "ephemeral").first)
        let file = try OpenFile(updating: folder.path.appending("store/ephemeral/\(part)"))
        let flipped = try file.readExactly(1, at: UInt64(size / 4)).map { $0 ^ 1 }
        try file.write(flipped.span, at: UInt64(size / 4))
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url).succeeded()
        #expect(server.packs.map(\.status) == [206, 206])
        #expect(sent + server.packBytes <= size * 11 / 10, "\(sent) + \(server.packBytes) of \(size)")
        try await expectLoaded()
    }

    /// Ephemeral storage may be deleted at any time.
    @Test func aMissingPartialDownload() async throws {
        try await interrupt()
        try FileManager.default.removeItem(atPath: "\(testSite.store)/ephemeral")
        try await testSite.fetch().succeeded()
        try await expectLoaded()
    }
}
