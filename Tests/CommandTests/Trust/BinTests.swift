import FaultServer
import Foundation
import Sampling
import StrictJSON
import Testing

/// A listing in hash bins: a change affects one bin, and readers fetch only that.
struct BinTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        var declarations: [String] = []
        for number in 0..<4 {
            try folder.write("source/\(number)/file", "pack \(number)")
            declarations += ["--pack", "p\(number)=\(folder["source/\(number)"])"]
        }
        try folder.write("level/file", "version 1")
        try await Command.run(
            ["publish", testSite.vault, "--pack", "level=\(folder["level"])"] + declarations
        ).succeeded()
    }

    private func publishInBins(_ count: Int64?) async throws {
        try testSite.settings { $0["bins"] = count.map { .integer($0) } }
        try await testSite.publish()
    }

    @Test(arguments: [4, Sampling.isWhole ? 256 : 16] as [Int64]) func onePackChangesOneBin(count: Int64)
        async throws
    {
        let readers = try await Readers(of: testSite)
        try await publishInBins(count)
        try await readers.expectBelief(seeing: [Tree(folder["level"])])
        let bins = try testSite.metadata().filter { $0.hasPrefix("1.packs-") }
        #expect(bins.count == Int(count))
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url).succeeded()
        let before = try testSite.metadata()

        try folder.write("level/file", "version 2")
        try await testSite.publish()
        let new = try testSite.metadata().subtracting(before)
        let bin = try #require(new.first { $0.hasPrefix("2.packs-") })
        let snapshot = try #require(new.first { $0.hasSuffix(".snapshot.json") })
        #expect(new == [bin, snapshot])

        let earlier = server.found.count
        try await testSite.fetch(server.url).succeeded()
        let sent = server.found.dropFirst(earlier)
        #expect(
            sent.filter { $0.hasPrefix("metadata/") }
                == ["metadata/timestamp.json", "metadata/\(snapshot)", "metadata/\(bin)"])
        #expect(sent.count { $0.hasSuffix(".avpack") } == 1)
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        try await readers.expectBelief(seeing: [Tree(folder["level"])])
        for number in 0..<3 {
            let verdict = try await Judge.run(
                testSite.site, root: testSite.root, target: "packs/p\(number).avpack", into: folder["out"])
            #expect(verdict.exitCode == 0, "\(verdict.errorText)")
        }
    }

    /// From one list to bins, to more bins, and back; clients of each state follow.
    @Test func changesOfTheBinCount() async throws {
        let readers = try await Readers(of: testSite)
        let counts: [Int64?] = [4, 16, nil, 4]
        let stepsWithPython = Array(counts.indices).sample(1, for: "changesOfTheBinCount")
        for (step, count) in counts.enumerated() {
            let withPython = stepsWithPython.contains(step)
            try await publishInBins(count)
            try await readers.expectBelief(
                seeing: [Tree(folder["level"])], withPython: withPython, "step \(step)")
            try await readers.follow(withPython: withPython)
            try folder.write("level/file", "after step \(step)")
            try await testSite.publish()
            try await readers.expectBelief(
                seeing: [Tree(folder["level"])], withPython: withPython, "after step \(step)")
            let store = folder["store-\(step)"]
            try await testSite.fetch(into: store).succeeded()
            #expect(try await testSite.status(of: store).count == 5)
            #expect(try await testSite.status(of: store)["level"]?.version == Int64(step + 2))
            let before = try Tree(testSite.site)
            try await testSite.publish()
            #expect(try Tree(testSite.site) == before)
        }
    }

    @Test func aRemovedPack() async throws {
        try await publishInBins(4)
        try testSite.settings { settings in
            var packs = settings["packs"]?.members ?? [:]
            packs["p3"] = nil
            settings["packs"] = .object(packs)
        }
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.status().keys.contains("p3") == false)
        #expect(try await testSite.status().count == 4)
    }

    @Test(arguments: ["0", "1", "3", "32768", "-4", "\"4\""]) func invalidBinCounts(text: String) async throws
    {
        let value = try JSONValue(parsing: Array(text.utf8).span, place: "bins")
        try testSite.settings { $0["bins"] = value }
        let before = try Tree(testSite.site)
        let result = try await Command.run("publish", testSite.vault)
        #expect(result.exitCode == 64 || result.exitCode == 65 && text == "\"4\"", "\(result.errorText)")
        #expect(try Tree(testSite.site) == before)
    }
}
