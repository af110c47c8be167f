import Sampling
import Testing

/// A publication may be killed at any moment: readers see the old or the new site, and the next publication succeeds.
struct KilledPublishTests {
    let world: World
    private let first: Tree
    private let second: Tree

    /// Version 1 is published; the sources, one of them an archive, are those of version 2.
    init() async throws {
        world = try await World()
        try world.write("old/noise", Bytes.random(1 << 19, seed: 1))
        try world.write("new/noise", Bytes.random(3 << 18, seed: 2))
        for number in 0..<40 { try world.write("new/\(number)", Bytes.random(3000, seed: UInt64(number))) }
        (first, second) = (try Tree(world["old"]), try Tree(world["new"]))
        for version in ["old", "new"] {
            try await Tool.run("tar", "-C", world[version], "-cf", world["\(version).tar"], ".")
        }
        try await use("old")
        try await world.publish("--pack level=$WORK/level --pack a/packed=$WORK/packed.tar")
        try await use("new")
        try await world.fetch(into: world["store-old"]).succeeded()
    }

    private func use(_ version: String) async throws {
        try await Tool.run("rm", "-rf", world["level"])
        try await world.copy(version, to: "level")
        try await world.copy("\(version).tar", to: "packed.tar")
    }

    private func tryOut(_ round: Int, through wrapper: [String]) async throws -> CommandResult {
        let hint = "after \(wrapper)"
        let vault = try world.makeFolder("round-\(round)") + "/vault"
        try await world.copy("vault", to: vault)
        for source in ["level", "packed.tar"] {
            try await Tool.run("ln", "-s", world[source], world["round-\(round)/\(source)"])
        }
        let site = "\(vault)/site"
        let result = try await world.run("publish \(vault)", through: wrapper)
        try #require(result.exitCode == 0 || result.exitCode == 137, "\(result.errorText) \(hint)")

        // A client that knows the old site, and a new one.
        let store = world["store-\(round)"]
        try await world.copy("store-old", to: store)
        for store in [store, world["fresh-\(round)"]] {
            try await world.fetch(from: site, into: store).succeeded()
            let level = try await world.tree(of: "level", in: store)
            let packed = try await world.tree(of: "a/packed", in: store)
            #expect(level == packed && (level == first || level == second), "\(hint)")
        }

        try await world.run("publish \(vault)").succeeded()
        try await world.fetch(from: site, into: store).succeeded()
        for id in ["level", "a/packed"] {
            #expect(try await world.tree(of: id, in: store) == second, "\(hint)")
        }
        #expect(try Tree(vault).scratch == [], "\(hint)")
        let before = try Tree(site)
        try await world.run("publish \(vault)").succeeded()
        #expect(try Tree(site) == before, "\(hint)")
        for name in ["round", "store", "fresh"] { try world.remove("\(name)-\(round)") }
        return result
    }

    @Test func atRandomMoments() async throws {
        try await world.copy("vault", to: "timed")
        let whole = try await ContinuousClock().measure {
            try await world.run("publish $WORK/timed").succeeded()
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
        let numbers = Sampling.numbers(1...60, each: 5, for: "KilledPublishTests.atEveryStep \(call)")
        try await Killing.atEach(call, numbers) { try await tryOut($0, through: $1) }
    }

    /// Unpacked content is plaintext while it is sealed: it is never in the site, not even after a kill.
    @Test func nothingPlainIsLeftInTheSite() async throws {
        let secret = Array(Bytes.random(1 << 10, seed: 2).prefix(64))
        let result = try await world.run("publish $VAULT", through: Killing.at("renameat2", number: 1))
        #expect(result.exitCode == 137)
        #expect(try Tree(world.site).files(holding: secret) == [])
    }
}
