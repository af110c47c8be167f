import Foundation
import Sampling
import Testing

/// A fetch that is killed while it removes a superseded version: a partial tree never has a version's name.
@Suite(.timeLimit(.minutes(10))) struct KilledRemovalTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    private let first: Tree
    private let second: Tree

    /// `store` holds version 1, of many files; version 2, of few, is on the site.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        for number in 0..<12 { try folder.write("level/\(number % 3)/\(number)", "\(number)") }
        try await testSite.publish("--pack", "level=\(folder["level"])")
        first = try Tree(folder["level"])
        try await testSite.fetch().succeeded()
        try await Tool.run("cp", "-a", folder["level"], folder["old-level"])
        try await Tool.run("rm", "-r", folder["level"])
        try folder.write("level/file", "version 2")
        try await testSite.publish()
        second = try Tree(folder["level"])
    }

    /// The names of versions in permanent storage, without manifests.
    private func versions(in store: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(store)/permanent/level")
            .filter { $0.hasPrefix("@") && !$0.hasSuffix(".json") && !$0.hasSuffix(".tail") }
    }

    /// A fetch that may be killed, and the next one. Returns whether a partial tree was left.
    private func tryOut(_ call: String, _ number: Int) async throws -> (wasKilled: Bool, leftScratch: Bool) {
        let store = folder["store-\(call)-\(number)"]
        try await Tool.run("cp", "-a", testSite.store, store)
        let result = try await testSite.fetch(into: store, through: Killing.at(call, number: number))
        let hint = "\(call) \(number)"
        try #require(result.exitCode == 0 || result.exitCode == 137, "\(result.errorText) \(hint)")
        for version in try versions(in: store) {
            let tree = try Tree("\(store)/permanent/level/\(version)")
            #expect(tree == first || tree == second, "\(version): \(tree.files) \(hint)")
        }
        let live = try await testSite.tree(of: "level", in: store)
        #expect(live == first || live == second, "\(hint)")
        let scratch = try folder.names(in: "store-\(call)-\(number)/permanent/level").filter {
            $0.hasPrefix(".assetvault-")
        }

        try await testSite.fetch(into: store).succeeded()
        #expect(try await testSite.tree(of: "level", in: store) == second, "\(hint)")
        #expect(try versions(in: store).count == 1, "\(hint)")
        let left = try Tree(store).entries.keys.filter { $0.contains(".assetvault-") }
        #expect(left == [], "\(hint)")
        try await Tool.run("rm", "-r", store)
        return (result.exitCode == 137, !scratch.isEmpty && live == second)
    }

    @Test(arguments: ["unlinkat", "renameat2", "fsync"]) func atEveryStep(call: String) async throws {
        var halves = 0
        for number in Sampling.numbers(1...80, each: 4, for: "KilledRemovalTests.atEveryStep \(call)") {
            let outcome = try await tryOut(call, number)
            if outcome.leftScratch { halves += 1 }
            guard outcome.wasKilled else {
                #expect(number > 1, "\(call) was never called")
                break
            }
        }
        // The kills did hit the removal.
        if call == "unlinkat" { #expect(halves > (Sampling.isWhole ? 10 : 1), "\(halves)") }
    }
}
