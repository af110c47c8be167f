import FaultServer
import Testing
import VaultBase

/// The update costs that `publish` reports before signing, compared with the real ones.
struct UpdateReportTests {
    let world: World

    init() async throws {
        world = try await World("level") { world in
            for number in 0..<40 {
                try world.write("level/\(number)", Bytes.random(100_000, seed: UInt64(number)))
            }
        }
    }

    private func change(_ numbers: Int..., in version: UInt64) throws {
        for number in numbers {
            try world.write("level/\(number)", Bytes.random(90_000, seed: version << 8 | UInt64(number)))
        }
    }

    /// Bytes and requests of each update of the one pack, by the version that it comes from.
    private func updates(_ result: CommandResult) throws -> [Int64: [Int]] {
        let pack = try #require(result.json()["packs"]?.elements?.first)
        let updates = try #require(pack["updates"]?.elements)
        return try Dictionary(
            uniqueKeysWithValues: updates.map {
                (
                    try #require($0["from"]?.number),
                    [Int(try #require($0["bytes"]?.number)), Int(try #require($0["requests"]?.number))]
                )
            })
    }

    /// The dry run, the publication, a runner without the packs, and the transfer agree.
    @Test func theReportMatchesTheDownload() async throws {
        func hold(_ version: Int) async throws {
            try await world.fetch("--sealed", into: world["store-\(version)"]).succeeded()
        }
        try await hold(1)
        try change(3, in: 2)
        try await world.publish()
        try await hold(2)
        try change(10, 11, 30, in: 3)
        let runner = try await Runner(of: world)
        let said = try updates(try await world.publish("--dry-run --json"))
        #expect(said.keys.sorted() == [1, 2])
        #expect(try updates(try await runner.publish("--dry-run --json").succeeded()) == said)
        #expect(try updates(try await runner.publish("--json").succeeded()) == said)
        #expect(try updates(try await world.publish("--json")) == said)
        for version in [1, 2] {
            let server = try FaultServer(world.site)
            try await world.fetch("--sealed", from: server.url, into: world["store-\(version)"]).succeeded()
            #expect(try await [server.packBytesAtRest, server.packs.count] == said[Int64(version)])
        }
    }
}
