import FaultServer
import Foundation
import Sampling
import Testing

/// A fetch may be killed at any moment: the old or the new version is live, and the next fetch succeeds.
struct KilledFetchTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    private let first: Tree
    private let second: Tree

    /// `store-0` is empty, `store-1` holds version 1; version 2 is on the site.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        for number in 0..<60 {
            try folder.write("level/\(number % 7)/\(number)", Bytes.random(5000, seed: UInt64(number)))
        }
        try folder.write("level/noise", Bytes.random(1 << 20, seed: 1))
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try await Tool.run("cp", "-a", folder["level"], folder["old-level"])
        first = try Tree(folder["old-level"])
        try await testSite.fetch(into: folder["store-1"]).succeeded()
        try folder.makeFolder("store-0")
        try folder.write("level/noise", Bytes.random(5 << 18, seed: 2))
        try FileManager.default.removeItem(atPath: folder["level/3"])
        try await testSite.publish()
        second = try Tree(folder["level"])
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

    /// One fetch that may be killed, and the one after it.
    private func killAndRepeat(
        _ start: Int, _ round: Int, _ url: String, through wrapper: [String]
    ) async throws -> CommandResult {
        let store = folder["store-\(start)-\(round)"]
        try await Tool.run("cp", "-a", folder["store-\(start)"], store)
        let result = try await testSite.fetch(url, into: store, withKeys: round % 4 != 3, through: wrapper)
        let hint = "after \(wrapper)"
        try #require(result.exitCode == 0 || result.exitCode == 137, "\(result.errorText) \(hint)")
        try expectOldOrNew(store, hint)
        // `status` works on whatever is left, and `path` names a complete version.
        _ = try await testSite.status(of: store)
        try expectOldOrNew(store, hint)

        try await testSite.fetch(url, into: store).succeeded()
        #expect(try await testSite.tree(of: "level", in: store) == second, "\(hint)")
        #expect(try await testSite.status(of: store)["level"]?.state == "loaded", "\(hint)")
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
        let server = try FaultServer(testSite.site)
        let clock = ContinuousClock()
        let whole = try await clock.measure {
            try await testSite.fetch(server.url, into: folder["timed"]).succeeded()
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
            for number in Sampling.numbers(
                1...60, each: 6, for: "KilledFetchTests.atEveryStep \(call) \(start)")
            {
                let result = try await killAndRepeat(
                    start, number * 4, testSite.site, through: Killing.at(call, number: number))
                if result.exitCode == 0 {
                    #expect(number > 1 || start == 0, "\(call) was never called")
                    break
                }
            }
        }
    }
}
