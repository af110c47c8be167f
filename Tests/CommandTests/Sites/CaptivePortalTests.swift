import FaultServer
import Foundation
import Testing

/// Networks that answer every request with their own page: partial downloads are kept.
struct CaptivePortalTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    /// Bytes of the pack.
    let size: Int
    private static let noise = Bytes.random(24 << 20, seed: 1)
    private static let page = Array("<!DOCTYPE html><html><body>Please log in.</body></html>\n".utf8)

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/noise", Self.noise)
        try await testSite.publish("--pack", "level=\(folder["level"])")
        size = try folder.bytes("vault/site/\(testSite.publishedPack("level"))").count
    }

    /// A portal's page, with and without a length.
    enum Page: CaseIterable { case short, shortOfNoLength, asLongAsThePack, longer, endless }

    private func answer(_ page: Page) -> FaultServer.Answer {
        let filler = [UInt8](repeating: UInt8(ascii: " "), count: size)
        return switch page {
        case .short: .bytes(Self.page, length: Self.page.count)
        case .shortOfNoLength: .bytes(Self.page, length: nil)
        case .asLongAsThePack: .bytes(Array((Self.page + filler).prefix(size)), length: size)
        case .longer: .bytes(Self.page + filler, length: size + Self.page.count)
        case .endless: .endless(length: nil)
        }
    }

    private func partSize() throws -> Int {
        try folder.names(in: "store/ephemeral").reduce(0) {
            try $0 + folder.dataCount(of: "store/ephemeral/\($1)")
        }
    }

    /// The host sends half and stops, a portal answers, then the host sends the rest.
    @Test(arguments: Page.allCases) func keepsThePartialDownload(page: Page) async throws {
        let (half, answer) = (size / 2, answer(page))
        let dying = try FaultServer(testSite.site) {
            DyingHost.answer($0, cutAfter: half)
        }
        #expect(try await testSite.fetch(dying.url).exitCode == 69)
        let before = try partSize()
        #expect(before > size / 4)

        let portal = try FaultServer(testSite.site) { $0.isForPack ? answer : .file }
        for _ in 0..<2 {
            try await testSite.fetch(portal.url).failed(65, naming: portal.url)
            // A hint only: a file system may call a hole data once it was read.
            #expect(try partSize() >= before)
        }
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url).succeeded()
        #expect(server.packs.map(\.status) == [206])
        let served = dying.packBytes + server.packBytes
        #expect(served <= size * 11 / 10, "\(served) of \(size)")
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }

    @Test(arguments: [Page.short, .shortOfNoLength]) func aPageIsNotKeptAsAPartialDownload(page: Page)
        async throws
    {
        let answer = answer(page)
        let portal = try FaultServer(testSite.site) { $0.isForPack ? answer : .file }
        try await testSite.fetch(portal.url).failed(65, naming: portal.url)
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url).succeeded()
        #expect(server.packs.map(\.status) == [206, 206])
    }

    @Test func aPageIsRefusedAsMetadata() async throws {
        let half = size / 2
        let dying = try FaultServer(testSite.site) {
            DyingHost.answer($0, cutAfter: half)
        }
        #expect(try await testSite.fetch(dying.url).exitCode == 69)
        let before = try partSize()
        let portal = try FaultServer(testSite.site) { _ in .bytes(Self.page, length: Self.page.count) }
        try await testSite.fetch(portal.url).failed(69, naming: "a web page instead of the file", "404")
        #expect(try partSize() == before)
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url).succeeded()
        #expect(dying.packBytes + server.packBytes <= size * 11 / 10)
    }
}
