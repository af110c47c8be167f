import FaultServer
import Foundation
import Sampling
import Testing

/// A fetch may be killed at any moment: the old or the new version is live, and the next fetch succeeds.
struct KilledFetchTests {
    let world: World
    private let first: Tree
    private let second: Tree
    private let halfRemoved = Counter()

    /// `store-0` is empty, `store-1` holds version 1; version 2 is on the site.
    init() async throws {
        world = try await World("level") { world in
            for number in 0..<60 {
                try world.write("level/\(number % 7)/\(number)", Bytes.random(5000, seed: UInt64(number)))
            }
            try world.write("level/noise", Bytes.random(1 << 20, seed: 1))
        }
        try await world.copy("level", to: "old-level")
        first = try Tree(world["old-level"])
        try await world.fetch(into: world["store-1"]).succeeded()
        try world.makeFolder("store-0")
        try world.write("level/noise", Bytes.random(5 << 18, seed: 2))
        try world.remove("level/3")
        try await world.publish()
        second = try Tree(world["level"])
    }

    private func expectOldOrNew(_ store: String, _ hint: String) throws {
        let current = "\(store)/permanent/level/current"
        guard FileManager.default.fileExists(atPath: current) else {
            #expect(store.contains("store-0"), "the old version is gone \(hint)")
            return
        }
        let tree = try Tree(current)
        #expect(tree == second || store.contains("store-1") && tree == first, "\(tree.entries.keys) \(hint)")
    }

    /// A partial tree never has a version's name. Notes where one is left beside version 2.
    private func expectWholeVersions(in store: String, _ hint: String) throws {
        let home = "\(store)/permanent/level"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: home)) ?? []
        let parts = [".json", ".tail", ".arriving"]
        for name in names where name.hasPrefix("@") && !parts.contains(where: name.hasSuffix) {
            let tree = try Tree("\(home)/\(name)")
            #expect(tree == first || tree == second, "\(name): \(tree.files) \(hint)")
        }
        guard names.contains("current"), try Tree("\(home)/current") == second else { return }
        if names.contains(where: { $0.hasPrefix(".assetvault-") }) { _ = halfRemoved.next() }
    }

    /// One fetch that may be killed, and the one after it.
    private func killAndRepeat(
        _ start: Int, _ round: Int, _ url: String, through wrapper: [String]
    ) async throws -> CommandResult {
        let store = world["store-\(start)-\(round)"]
        try await world.copy("store-\(start)", to: store)
        let result = try await world.fetch(from: url, into: store, withKeys: round % 4 != 3, through: wrapper)
        let hint = "after \(wrapper)"
        try #require(result.exitCode == 0 || result.exitCode == 137, "\(result.errorText) \(hint)")
        try expectOldOrNew(store, hint)
        try expectWholeVersions(in: store, hint)
        // `status` works on whatever is left, and `path` names a complete version.
        _ = try await world.status(of: store)
        try expectOldOrNew(store, hint)

        try await world.fetch(from: url, into: store).succeeded()
        #expect(try await world.tree(of: "level", in: store) == second, "\(hint)")
        #expect(try await world.status(of: store)["level"]?.state == "loaded", "\(hint)")
        // No files of the killed fetch are left.
        let left = try Tree(store)
        #expect(left.files.filter { $0.contains(".assetvault-") || $0.hasSuffix(".part") } == [], "\(hint)")
        let versions = left.entries.keys.filter {
            $0.hasPrefix("permanent/level/@") && !$0.dropFirst(16).contains("/")
        }
        #expect(versions.count == 3, "a tree, its manifest and its tail, not \(versions) \(hint)")
        try FileManager.default.removeItem(atPath: store)
        return result
    }

    @Test func atRandomMoments() async throws {
        let server = try FaultServer(world.site)
        let clock = ContinuousClock()
        let whole = try await clock.measure {
            try await world.fetch(from: server.url, into: world["timed"]).succeeded()
        }
        var killed = 0
        var moments = RandomMoments(within: whole, for: "KilledFetchTests.atRandomMoments")
        let rounds = Sampling.rounds(8, whole: 40)
        for round in 0..<rounds {
            let kill = Killing.after(moments.next(0.005...1))
            let result = try await killAndRepeat(round % 2, round, server.url, through: kill)
            moments.note(wasKilled: result.exitCode == 137)
            if result.exitCode == 137 { killed += 1 }
        }
        #expect(killed * 8 > rounds, "\(killed) of \(rounds)")
    }

    /// At each call that makes something visible or durable.
    @Test(arguments: ["renameat2", "fsync", "syncfs", "symlinkat", "unlinkat", "mkdirat"])
    func atEveryStep(call: String) async throws {
        for start in [0, 1].sample(1, for: "KilledFetchTests.atEveryStep \(call)") {
            let numbers = Sampling.numbers(
                1...60, each: 6, for: "KilledFetchTests.atEveryStep \(call) \(start)")
            try await Killing.atEach(call, numbers, isAlwaysCalled: start == 1) { number, wrapper in
                try await killAndRepeat(start, number * 4, world.site, through: wrapper)
            }
        }
    }

    /// Also while the version before, of many files, is removed.
    @Test(.timeLimit(.minutes(10)), arguments: ["unlinkat", "renameat2", "fsync"])
    func ofAnUpdate(call: String) async throws {
        let numbers = Sampling.numbers(1...80, each: 4, for: "KilledFetchTests.ofAnUpdate \(call)")
        try await Killing.atEach(call, numbers) { number, wrapper in
            try await killAndRepeat(1, number * 4, world.site, through: wrapper)
        }
        // The kills did hit the removal.
        let least = Sampling.isWhole ? 10 : 1
        if call == "unlinkat" { #expect(halfRemoved.count > least, "\(halfRemoved.count)") }
    }
}
