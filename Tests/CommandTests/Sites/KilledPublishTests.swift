import Foundation
import Sampling
import Testing

/// A publication may be killed at any moment: readers see the old or the new site, and the next publication succeeds.
struct KilledPublishTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    private let first: Tree
    private let second: Tree

    /// Version 1 is published; the sources, one of them an archive, are those of version 2.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("old/noise", Bytes.random(1 << 19, seed: 1))
        try folder.write("new/noise", Bytes.random(3 << 18, seed: 2))
        for number in 0..<40 { try folder.write("new/\(number)", Bytes.random(3000, seed: UInt64(number))) }
        (first, second) = (try Tree(folder["old"]), try Tree(folder["new"]))
        for version in ["old", "new"] {
            try await Tool.run("tar", "-C", folder[version], "-cf", folder["\(version).tar"], ".")
        }
        try await use("old")
        try await testSite.publish(
            "--pack", "level=\(folder["level"])", "--pack", "a/packed=\(folder["packed.tar"])")
        try await use("new")
        try await testSite.fetch(into: folder["store-old"]).succeeded()
    }

    private func use(_ version: String) async throws {
        try await Tool.run("rm", "-rf", folder["level"])
        try await Tool.run("cp", "-a", folder[version], folder["level"])
        try await Tool.run("cp", "-a", folder["\(version).tar"], folder["packed.tar"])
    }

    private func tryOut(_ round: Int, through wrapper: [String]) async throws -> CommandResult {
        let hint = "after \(wrapper)"
        let vault = try folder.makeFolder("round-\(round)") + "/vault"
        try await Tool.run("cp", "-a", testSite.vault, vault)
        for source in ["level", "packed.tar"] {
            try await Tool.run("ln", "-s", folder[source], folder["round-\(round)/\(source)"])
        }
        let site = "\(vault)/site"
        let result = try await Command.run("publish", vault, through: wrapper)
        try #require(result.exitCode == 0 || result.exitCode == 137, "\(result.errorText) \(hint)")

        // A client that knows the old site, and a new one.
        let store = folder["store-\(round)"]
        try await Tool.run("cp", "-a", folder["store-old"], store)
        for store in [store, folder["fresh-\(round)"]] {
            try await testSite.fetch(site, into: store).succeeded()
            let (level, packed) = (
                try await testSite.tree(of: "level", in: store),
                try await testSite.tree(of: "a/packed", in: store)
            )
            #expect(level == packed && (level == first || level == second), "\(hint)")
        }

        try await Command.run("publish", vault).succeeded()
        try await testSite.fetch(site, into: store).succeeded()
        #expect(try await testSite.tree(of: "level", in: store) == second, "\(hint)")
        #expect(try await testSite.tree(of: "a/packed", in: store) == second, "\(hint)")
        #expect(try Tree(vault).entries.keys.filter { $0.contains(".assetvault-") } == [], "\(hint)")
        let before = try Tree(site)
        try await Command.run("publish", vault).succeeded()
        #expect(try Tree(site) == before, "\(hint)")
        for name in ["round", "store", "fresh"] {
            try await Tool.run("rm", "-rf", folder["\(name)-\(round)"])
        }
        return result
    }

    @Test func atRandomMoments() async throws {
        try await Tool.run("cp", "-a", testSite.vault, folder["timed"])
        let whole = try await ContinuousClock().measure {
            try await Command.run("publish", folder["timed"]).succeeded()
        }
        var killed = 0
        var moments = RandomMoments(within: whole, for: "KilledPublishTests.atRandomMoments")
        let rounds = Sampling.rounds(6, whole: 20)
        for round in 0..<rounds {
            let result = try await tryOut(round, through: Killing.after(moments.next(0.005...1)))
            moments.note(wasKilled: result.exitCode == 137)
            if result.exitCode == 137 { killed += 1 }
        }
        #expect(killed * 9 > rounds, "\(killed) of \(rounds)")
    }

    @Test(arguments: ["renameat2", "fsync"]) func atEveryStep(call: String) async throws {
        for number in Sampling.numbers(1...60, each: 5, for: "KilledPublishTests.atEveryStep \(call)") {
            let result = try await tryOut(number, through: Killing.at(call, number: number))
            if result.exitCode == 0 {
                #expect(number > 1, "\(call) was never called")
                break
            }
        }
    }

    /// Unpacked content is plaintext while it is sealed: it is never in the site, not even after a kill.
    @Test func nothingPlainIsLeftInTheSite() async throws {
        let secret = Array(Bytes.random(1 << 10, seed: 2).prefix(64))
        let result = try await Command.run(
            "publish", testSite.vault, through: Killing.at("renameat2", number: 1))
        #expect(result.exitCode == 137)
        #expect(try Tree(testSite.site).files(holding: secret) == [])
    }
}
