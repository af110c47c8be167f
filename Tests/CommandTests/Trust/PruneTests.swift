import Sampling
import Testing

/// Pruning that is killed. `Scripts/Trust/prune.txt` shows which files it removes, and which it keeps.
struct PruneTests {
    let world: World
    private let packs: [String]

    /// Versions 1 to 4 were published today, version 5 in forty days, when the snapshots of today have expired.
    init() async throws {
        world = try await World()
        var packs: [String] = []
        for version in 1...5 {
            try world.write("level/file", "version \(version)")
            try await world.publish(
                "--pack level=$WORK/level", through: version == 5 ? Clock.shifted(byDays: 40) : [])
            packs.append(try world.publishedPack("level"))
        }
        self.packs = packs
        for name in [
            packs[4], "metadata/5.targets.json", "metadata/5.snapshot.json", "metadata/timestamp.json",
        ] {
            try await Tool.run("touch", "-d", "+40 days", "\(world.site)/\(name)")
        }
    }

    /// Prunes with the clock set forward by this many days; file times are unchanged.
    private func prune(after days: Int, _ arguments: String...) async throws -> CommandResult {
        try await world.run("prune $VAULT \(arguments)", through: Clock.shifted(byDays: days))
    }

    /// After a kill the site is complete, and the next run removes the rest.
    @Test func killedAtEachStep() async throws {
        let then = try Clock.shifted(byDays: 41)
        try await world.copy("vault", to: "whole")
        try await prune(after: 41, "--keep", "1", "--grace", "0d").succeeded()
        let rest = try Tree(world.site)
        var killed = 0
        let numbers = Sampling.numbers(1...30, each: 3, for: "PruneTests.killedHalfWay")
        for number in numbers {
            try world.remove("vault")
            try await world.copy("whole", to: world.vault)
            let kill = Killing.at("unlinkat", number: number)
            let result = try await world.run(
                "prune $VAULT --keep 1 --grace 0d", through: kill + Clock.shifted(byDays: 41))
            try await world.run("audit $SITE", through: then).succeeded()
            try await world.fetch(into: world["store-\(number)"], through: then).succeeded()
            // Each earlier version is complete or gone.
            for (version, pack) in packs.enumerated()
            where try world.exists("vault/site/metadata/\(version + 1).targets.json") {
                #expect(try world.exists("vault/site/\(pack)"), "version \(version + 1)")
            }
            if result.exitCode == 0 { break }
            killed += 1
            try await prune(after: 41, "--keep", "1", "--grace", "0d").succeeded()
            #expect(try Tree(world.site) == rest)
        }
        #expect(killed == numbers.count { $0 <= 12 }, "\(killed)")
    }
}
