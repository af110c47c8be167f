import Foundation
import Sampling
import Testing

/// Pruning that is killed. `Scripts/Trust/prune.txt` shows which files it removes, and which it keeps.
struct PruneTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    private let packs: [String]

    /// Versions 1 to 4 were published today, version 5 in forty days, when the snapshots of today have expired.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        var packs: [String] = []
        for version in 1...5 {
            try folder.write("level/file", "version \(version)")
            try await testSite.publish(
                "--pack", "level=\(folder["level"])", through: version == 5 ? Clock.shifted(byDays: 40) : [])
            packs.append(try testSite.publishedPack("level"))
        }
        self.packs = packs
        for name in [
            packs[4], "metadata/5.targets.json", "metadata/5.snapshot.json", "metadata/timestamp.json",
        ] {
            try await Tool.run("touch", "-d", "+40 days", "\(testSite.site)/\(name)")
        }
    }

    /// Prunes with the clock set forward by this many days; file times are unchanged.
    private func prune(after days: Int, _ arguments: String...) async throws -> CommandResult {
        try await Command.run(
            ["prune", testSite.vault] + arguments, through: Clock.shifted(byDays: days))
    }

    /// After a kill the site is complete, and the next run removes the rest.
    @Test func killedAtEachStep() async throws {
        let then = try Clock.shifted(byDays: 41)
        try await Tool.run("cp", "-a", testSite.vault, folder["whole"])
        try await prune(after: 41, "--keep", "1", "--grace", "0d").succeeded()
        let rest = try Tree(testSite.site)
        var killed = 0
        let numbers = Sampling.numbers(1...30, each: 3, for: "PruneTests.killedHalfWay")
        for number in numbers {
            try await Tool.run("rm", "-rf", testSite.vault)
            try await Tool.run("cp", "-a", folder["whole"], testSite.vault)
            let kill = Killing.at("unlinkat", number: number)
            let result = try await Command.run(
                ["prune", testSite.vault, "--keep", "1", "--grace", "0d"],
                through: kill + Clock.shifted(byDays: 41))
            try await Command.run("audit", testSite.site, through: then).succeeded()
            try await testSite.fetch(into: folder["store-\(number)"], through: then).succeeded()
            // Each earlier version is complete or gone.
            for (version, pack) in packs.enumerated()
            where try folder.exists("vault/site/metadata/\(version + 1).targets.json") {
                #expect(try folder.exists("vault/site/\(pack)"), "version \(version + 1)")
            }
            if result.exitCode == 0 { break }
            killed += 1
            try await prune(after: 41, "--keep", "1", "--grace", "0d").succeeded()
            #expect(try Tree(testSite.site) == rest)
        }
        #expect(killed == numbers.count { $0 <= 12 }, "\(killed)")
    }
}
