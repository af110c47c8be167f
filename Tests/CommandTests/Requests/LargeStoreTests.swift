import Foundation
import Sampling
import Testing
import VaultBase

/// A game of 20 GB in 300 packs: what a request for one tag, and the decision which packs go, cost. Its files are sparse: none of
/// this reads them.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Sampling.isWhole)) struct LargeStoreTests {
    private static let packs = 300
    private static let filesPerPack = 20
    private static let size: UInt64 = 20_000_000_000
    /// For each command, in a release build.
    private static let goal = Duration.milliseconds(200)

    let world: World

    init() async throws {
        world = try await World()
        for pack in 0..<Self.packs {
            for file in 0..<Self.filesPerPack {
                try world.write("game/\(pack)/\(file)", "\(file) of \(pack)")
            }
        }
        try world.declareTree((0..<Self.packs).map { ("\($0)/**", ["t\($0)"]) })
        try await world.publish()
        try await world.fetch("--all").succeeded()
        for pack in 0..<Self.packs {
            let file = "\(world.store)/permanent/game/t\(pack)/current/\(pack)/0"
            let handle = try #require(FileHandle(forWritingAtPath: file))
            try handle.truncate(atOffset: Self.size / UInt64(Self.packs))
            try handle.close()
        }
    }

    /// The shortest of several runs: others use the machine, too.
    private func duration(of words: Words) async throws -> Duration {
        var shortest = Duration.seconds(1000)
        for _ in 0..<9 {
            let start = ContinuousClock.now
            try await world.run(words).succeeded()
            shortest = min(shortest, ContinuousClock.now - start)
        }
        return shortest
    }

    @Test func commandsAreQuick() async throws {
        let commands: [(String, Words)] = [
            ("start", "--version"), ("conditional begin", "access t17 $STORE $KEYS -- true"),
            ("purge decision", "purge --dry-run --json $STORE"), ("usage", "usage --json $STORE"),
        ]
        let isDebugBuild = try Command.path == Command.debugPath
        for (name, words) in commands {
            let duration = try await duration(of: words)
            print("\(name): \(duration)\(isDebugBuild ? ", debug build" : "")")
            #expect(duration < Self.goal || isDebugBuild, "\(name)")
        }
        let would = try await world.run("purge --dry-run --json $STORE").succeeded().json()
        #expect(would["packs"]?.elements?.count == Self.packs)
    }
}
