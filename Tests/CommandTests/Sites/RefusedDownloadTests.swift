import FaultServer
import Foundation
import Testing

/// Hosts that send other bytes than were signed: a clean failure, and the old version stays in use.
struct RefusedDownloadTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    /// Version 1 is in the store, version 2 on the site.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try await testSite.fetch().succeeded()
        try folder.write("level/file", "version 2")
        try folder.write("level/noise", Bytes.random(100_000, seed: 1))
        try await testSite.publish()
    }

    /// A fetch that fails with this code and leaves the store as it was; then a good host brings the new version.
    private func refuses(
        _ code: Int32, _ answer: @escaping @Sendable (FaultServer.Request) -> FaultServer.Answer,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try Tree("\(testSite.store)/permanent").packs
        let server = try FaultServer(testSite.site) { $0.isForPack ? answer($0) : .file }
        try await testSite.fetch(server.url).failed(code, naming: server.url, at: location)
        #expect(try Tree("\(testSite.store)/permanent").packs == before, sourceLocation: location)
        #expect(
            try testSite.files(in: "shared").filter { $0.hasSuffix(".avpack") } == [],
            sourceLocation: location)
        let status = try await testSite.status()["level"]
        #expect(status?.state == "failed" && status?.version == 1, sourceLocation: location)
        #expect(status?.failure?.isEmpty == false, sourceLocation: location)

        try await testSite.fetch().succeeded(at: location)
        #expect(
            try await testSite.tree(of: "level") == Tree(folder["level"]), sourceLocation: location)
        #expect(try await testSite.status()["level"]?.failure == nil, sourceLocation: location)
    }

    private func pack() throws -> [UInt8] {
        try folder.bytes("vault/site/\(testSite.publishedPack("level"))")
    }

    @Test func aMissingListedPack() async throws {
        try await refuses(72) { _ in .status(404) }
    }

    @Test(arguments: [500, 503, 401]) func aHostThatFails(status: Int) async throws {
        try await refuses(69) { _ in .status(status) }
    }

    @Test func aHostThatHangsUp() async throws {
        try await refuses(69) { _ in .hangUp }
    }

    @Test(arguments: [true, false]) func anOversizedPack(isDeclared: Bool) async throws {
        let bytes = try pack() + [0]
        try await refuses(65) { _ in .bytes(bytes, length: isDeclared ? bytes.count : nil) }
    }

    @Test func anUndersizedPack() async throws {
        let bytes = Array(try pack().dropLast())
        try await refuses(65) { _ in .bytes(bytes, length: bytes.count) }
    }

    /// Without a length, the end of a file and that of a connection look alike.
    @Test func anUndersizedPackOfNoLength() async throws {
        let bytes = Array(try pack().dropLast(200))
        try await refuses(69) { _ in .bytes(bytes, length: nil) }
    }

    @Test func anEndlessPack() async throws {
        try await refuses(65) { _ in .endless(length: nil) }
    }

    /// -129 is the last byte of the catalog.
    @Test(arguments: [0, 64, 1000, -129]) func aFlippedByte(position: Int) async throws {
        var bytes = try pack()
        bytes[(position + bytes.count) % bytes.count] ^= 1
        try await refuses(65) { [bytes] _ in .bytes(bytes, length: bytes.count) }
    }

    /// Clients derive header and footer from the signed metadata: only auditors read the host's.
    @Test(arguments: [63, -1, -128]) func aFlippedByteInHeaderOrFooter(position: Int) async throws {
        var bytes = try pack()
        bytes[(position + bytes.count) % bytes.count] ^= 1
        let server = try FaultServer(testSite.site) { [bytes] in
            $0.isForPack ? .bytes(bytes, length: bytes.count) : .file
        }
        try await testSite.fetch(server.url, "--sealed").succeeded()
        #expect(try folder.bytes(kept()) == pack())
    }

    /// The sealed pack in permanent storage.
    private func kept() throws -> String {
        let name = try folder.names(in: "store/permanent/level").first { $0.hasSuffix(".avpack") }
        return "store/permanent/level/\(try #require(name))"
    }

    @Test func anotherPack() async throws {
        let bytes = try pack()
        try await refuses(65) { _ in .bytes([UInt8](repeating: 0, count: bytes.count), length: bytes.count) }
    }
}
