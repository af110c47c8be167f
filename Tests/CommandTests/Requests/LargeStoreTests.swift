import Foundation
import Sampling
import StrictJSON
import Testing

/// A game of 20 GB in 300 packs: what a request for one tag, and the decision which packs go, cost. Its files are sparse: none of
/// this reads them.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Sampling.isWhole)) struct LargeStoreTests {
    private static let packs = 300
    private static let filesPerPack = 20
    private static let size: UInt64 = 20_000_000_000
    /// For each command, in a release build.
    private static let goal = Duration.milliseconds(200)

    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }
    private var store: [String] { ["--store", testSite.store] }

    init() async throws {
        testSite = try await TestSite()
        let folder = folder
        for pack in 0..<Self.packs {
            for file in 0..<Self.filesPerPack {
                try folder.write("game/\(pack)/\(file)", "\(file) of \(pack)")
            }
        }
        try testSite.settings {
            let rules = (0..<Self.packs).map { pack -> JSONValue in
                ["paths": .string("\(pack)/**"), "tags": [.string("t\(pack)")]]
            }
            $0["resources"] = ["game": ["source": .string(folder["game"]), "rules": .array(rules)]]
        }
        try await testSite.publish()
        try await testSite.fetch(nil, "--all").succeeded()
        for pack in 0..<Self.packs {
            let file = "\(testSite.store)/permanent/game/t\(pack)/current/\(pack)/0"
            let handle = try #require(FileHandle(forWritingAtPath: file))
            try handle.truncate(atOffset: Self.size / UInt64(Self.packs))
            try handle.close()
        }
    }

    /// The shortest of several runs: others use the machine, too.
    private func duration(of arguments: [String]) async throws -> Duration {
        var shortest = Duration.seconds(1000)
        for _ in 0..<9 {
            let start = ContinuousClock.now
            try await Command.run(arguments).succeeded()
            shortest = min(shortest, ContinuousClock.now - start)
        }
        return shortest
    }

    @Test func commandsAreQuick() async throws {
        let commands = [
            ("start", ["--version"]),
            ("conditional begin", ["access", "t17"] + store + testSite.keys + ["--", "true"]),
            ("purge decision", ["purge", "--dry-run", "--json"] + store),
            ("usage", ["usage", "--json"] + store),
        ]
        let isDebugBuild = try Command.path == Command.debugPath
        for (name, arguments) in commands {
            let duration = try await duration(of: arguments)
            print("\(name): \(duration)\(isDebugBuild ? ", debug build" : "")")
            #expect(duration < Self.goal || isDebugBuild, "\(name)")
        }
        let would = try await Command.run(["purge", "--dry-run", "--json"] + store).succeeded().json()
        #expect(would["packs"]?.elements?.count == Self.packs)
    }
}
