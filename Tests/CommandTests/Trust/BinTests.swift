import FaultServer
import Sampling
import Testing
import VaultBase

/// A listing in hash bins: a change affects one bin, and readers fetch only that.
struct BinTests {
    let world: World

    init() async throws {
        world = try await World()
        var declarations: [String] = []
        for number in 0..<4 {
            try world.write("source/\(number)/file", "pack \(number)")
            declarations += ["--pack", "p\(number)=\(world["source/\(number)"])"]
        }
        try world.write("level/file", "version 1")
        try await world.run("publish $VAULT --pack level=$WORK/level \(declarations)").succeeded()
    }

    private func publishInBins(_ count: Int64?) async throws {
        try world.settings { $0["bins"] = count.map { .integer($0) } }
        try await world.publish()
    }

    @Test(arguments: [4, Sampling.isWhole ? 256 : 16] as [Int64]) func onePackChangesOneBin(count: Int64)
        async throws
    {
        let readers = try await Readers(of: world)
        try await publishInBins(count)
        try await readers.expectBelief(seeing: [Tree(world["level"])])
        let bins = try world.metadata().filter { $0.hasPrefix("1.packs-") }
        #expect(bins.count == Int(count))
        let server = try FaultServer(world.site)
        try await world.fetch(from: server.url).succeeded()
        let before = try world.metadata()

        try await world.publish(level: "version 2")
        let new = try world.metadata().subtracting(before)
        let bin = try #require(new.first { $0.hasPrefix("2.packs-") })
        let snapshot = try #require(new.first { $0.hasSuffix(".snapshot.json") })
        #expect(new == [bin, snapshot])

        let earlier = server.found.count
        try await world.fetch(from: server.url).succeeded()
        let sent = server.found.dropFirst(earlier)
        #expect(
            sent.filter { $0.hasPrefix("metadata/") }
                == ["metadata/timestamp.json", "metadata/\(snapshot)", "metadata/\(bin)"])
        #expect(sent.count { $0.hasSuffix(".avpack") } == 1)
        try await world.expectLoaded("level")
        try await readers.expectBelief(seeing: [Tree(world["level"])])
        for number in 0..<3 {
            let verdict = try await Judge.run(
                world.site, root: world.root, target: "packs/p\(number).avpack", into: world["out"])
            #expect(verdict.exitCode == 0, "\(verdict.errorText)")
        }
    }

    /// From one list to bins, to more bins, and back; clients of each state follow.
    @Test func changesOfTheBinCount() async throws {
        let readers = try await Readers(of: world)
        let counts: [Int64?] = [4, 16, nil, 4]
        let stepsWithPython = Array(counts.indices).sample(1, for: "changesOfTheBinCount")
        for (step, count) in counts.enumerated() {
            let withPython = stepsWithPython.contains(step)
            try await publishInBins(count)
            try await readers.expectBelief(
                seeing: [Tree(world["level"])], withPython: withPython, "step \(step)")
            try await readers.follow(withPython: withPython)
            try await world.publish(level: "after step \(step)")
            try await readers.expectBelief(
                seeing: [Tree(world["level"])], withPython: withPython, "after step \(step)")
            let store = world["store-\(step)"]
            try await world.fetch(into: store).succeeded()
            #expect(try await world.status(of: store).count == 5)
            #expect(try await world.status(of: store)["level"]?.version == Int64(step + 2))
            try await world.expectNothingToPublish()
        }
    }

    @Test func aRemovedPack() async throws {
        try await publishInBins(4)
        try world.settings { try $0.change("packs") { $0["p3"] = nil } }
        try await world.publish()
        try await world.fetch().succeeded()
        #expect(try await world.status().keys.contains("p3") == false)
        #expect(try await world.status().count == 4)
    }

    @Test(arguments: ["0", "1", "3", "32768", "-4", "\"4\""]) func invalidBinCounts(text: String) async throws
    {
        let value = try JSONValue(parsing: Array(text.utf8).span, place: "bins")
        try world.settings { $0["bins"] = value }
        let before = try Tree(world.site)
        let result = try await world.run("publish $VAULT")
        #expect(result.exitCode == 64 || result.exitCode == 65 && text == "\"4\"", "\(result.errorText)")
        #expect(try Tree(world.site) == before)
    }
}
