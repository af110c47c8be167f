import FaultServer
import Testing

/// Hosts that send other bytes than were signed: a clean failure, and the old version stays in use.
struct RefusedDownloadTests {
    let world: World

    /// Version 1 is in the store, version 2 on the site.
    init() async throws {
        world = try await World(level: "version 1")
        try await world.fetch().succeeded()
        try world.write("level/noise", Bytes.random(100_000, seed: 1))
        try await world.publish(level: "version 2")
    }

    typealias Answer = @Sendable ([UInt8]) -> FaultServer.Answer

    /// What the host answers instead of the pack, and the exit code.
    static let refusals: [(String, Int32, Answer)] = [
        ("the listed pack is missing", 72, { _ in .status(404) }),
        ("status 500", 69, { _ in .status(500) }), ("status 503", 69, { _ in .status(503) }),
        ("status 401", 69, { _ in .status(401) }), ("it hangs up", 69, { _ in .hangUp }),
        ("too long", 65, { .bytes($0 + [0], length: $0.count + 1) }),
        ("too long, without a length", 65, { .bytes($0 + [0], length: nil) }),
        ("too short", 65, { .bytes(Array($0.dropLast()), length: $0.count - 1) }),
        // Without a length, the end of a file and that of a connection look alike.
        ("too short, without a length", 69, { .bytes(Array($0.dropLast(200)), length: nil) }),
        ("endless", 65, { _ in .endless(length: nil) }),
        ("another pack", 65, { .bytes([UInt8](repeating: 0, count: $0.count), length: $0.count) }),
        ("flipped at the beginning", 65, { flipped($0, at: 0) }),
        ("flipped in the first piece", 65, { flipped($0, at: 64) }),
        ("flipped in the middle", 65, { flipped($0, at: 1000) }),
        ("flipped in the last byte of the catalog", 65, { flipped($0, at: $0.count - 129) }),
    ]

    private static func flipped(_ pack: [UInt8], at place: Int) -> FaultServer.Answer {
        var bytes = pack
        bytes[place] ^= 1
        return .bytes(bytes, length: bytes.count)
    }

    /// A fetch that fails with this code leaves the store as it was; then a good host brings the new version.
    @Test(arguments: refusals.indices) func theStoreStaysAsItWas(number: Int) async throws {
        let (name, code, answer) = Self.refusals[number]
        let (pack, before) = (
            try world.publishedBytes(of: "level"), try Tree("\(world.store)/permanent").packs
        )
        let server = try FaultServer(world.site) { $0.isForPack ? answer(pack) : .file }
        try await world.fetch(from: server.url).failed(code, naming: server.url)
        #expect(try Tree("\(world.store)/permanent").packs == before, "\(name)")
        #expect(try world.files(in: "shared").filter { $0.hasSuffix(".avpack") } == [], "\(name)")
        let status = try await world.status()["level"]
        #expect(status?.state == "failed" && status?.version == 1, "\(name)")
        #expect(status?.failure?.isEmpty == false, "\(name)")
        try await world.fetch().succeeded()
        try await world.expectLoaded("level")
        #expect(try await world.status()["level"]?.failure == nil, "\(name)")
    }

    /// Clients derive header and footer from the signed metadata: only auditors read the host's.
    @Test(arguments: [63, -1, -128]) func aFlippedByteInHeaderOrFooter(position: Int) async throws {
        let pack = try world.publishedBytes(of: "level")
        let server = try FaultServer(world.site) {
            $0.isForPack ? Self.flipped(pack, at: (position + pack.count) % pack.count) : .file
        }
        try await world.fetch("--sealed", from: server.url).succeeded()
        let kept = try #require(
            try world.names(in: "store/permanent/level").first { $0.hasSuffix(".avpack") })
        #expect(try world.bytes("store/permanent/level/\(kept)") == pack)
    }
}
