import FaultServer
import Testing

/// Networks that answer every request with their own page: partial downloads are kept.
struct CaptivePortalTests {
    let world: World
    /// Bytes of the pack.
    let size: Int
    private static let noise = Bytes.random(24 << 20, seed: 1)
    private static let page = Array("<!DOCTYPE html><html><body>Please log in.</body></html>\n".utf8)

    init() async throws {
        world = try await World("level") { try $0.write("level/noise", Self.noise) }
        size = try world.publishedBytes(of: "level").count
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

    /// The host sends half and stops, a portal answers, then the host sends the rest.
    @Test(arguments: Page.allCases) func keepsThePartialDownload(page: Page) async throws {
        let answer = answer(page)
        let dying = try FaultServer.dying(world.site, after: size / 2)
        #expect(try await world.fetch(from: dying.url).exitCode == 69)
        let before = try world.partialBytes()
        #expect(before > size / 4)

        let portal = try FaultServer(world.site) { $0.isForPack ? answer : .file }
        for _ in 0..<2 {
            try await world.fetch(from: portal.url).failed(65, naming: portal.url)
            // A hint only: a file system may call a hole data once it was read.
            #expect(try world.partialBytes() >= before)
        }
        let server = try FaultServer(world.site)
        try await world.fetch(from: server.url).succeeded()
        #expect(server.packs.map(\.status) == [206])
        let served = dying.packBytes + server.packBytes
        #expect(served <= size * 11 / 10, "\(served) of \(size)")
        try await world.expectLoaded("level")
    }

    @Test(arguments: [Page.short, .shortOfNoLength]) func aPageIsNotKeptAsAPartialDownload(page: Page)
        async throws
    {
        let answer = answer(page)
        let portal = try FaultServer(world.site) { $0.isForPack ? answer : .file }
        try await world.fetch(from: portal.url).failed(65, naming: portal.url)
        let server = try FaultServer(world.site)
        try await world.fetch(from: server.url).succeeded()
        #expect(server.packs.map(\.status) == [206, 206])
    }

    @Test func aPageIsRefusedAsMetadata() async throws {
        let dying = try FaultServer.dying(world.site, after: size / 2)
        #expect(try await world.fetch(from: dying.url).exitCode == 69)
        let before = try world.partialBytes()
        let portal = try FaultServer(world.site) { _ in .bytes(Self.page, length: Self.page.count) }
        try await world.fetch(from: portal.url).failed(69, naming: "a web page instead of the file", "404")
        #expect(try world.partialBytes() == before)
        let server = try FaultServer(world.site)
        try await world.fetch(from: server.url).succeeded()
        #expect(dying.packBytes + server.packBytes <= size * 11 / 10)
    }
}
