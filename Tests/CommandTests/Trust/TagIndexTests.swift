import FaultServer
import Foundation
import StrictJSON
import Testing
import VaultSite

/// The signed tag index of a listing in bins: which files a request for one tag reads.
@Suite(.timeLimit(.minutes(5))) struct TagIndexTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    /// Forty packs in 64 bins: each has a tag of its own, and `odd` or `even`.
    init() async throws {
        testSite = try await TestSite()
        try declare(Array(0..<40))
        try await testSite.publish()
    }

    private func declare(_ numbers: [Int], bins: Int64? = 64, suffix: String = "") throws {
        var packs: JSONObject = [:]
        for number in numbers {
            try folder.write("source/\(number)/file\(number)", "pack \(number)\(suffix)")
            packs["p\(number)"] = .object([
                "source": .string(folder["source/\(number)"]), "policy": "onDemand",
                "tags": [.string("tag \(number)"), number.isMultiple(of: 2) ? "even" : "odd"],
            ])
        }
        try testSite.settings {
            $0["packs"] = .object(packs)
            $0["bins"] = bins.map { .integer($0) }
        }
    }

    private func loaded(_ store: String) async throws -> Set<String> {
        Set(try await testSite.status(of: store).filter { $0.value.version != nil }.keys)
    }

    @Test func aRequestReadsAFewBins() async throws {
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url, "--tag", "tag 7", into: folder["one"]).succeeded()
        #expect(try await loaded(folder["one"]) == ["p7"])
        let bins = server.found.filter { $0.hasPrefix("metadata/1.packs-") }
        #expect((1...2).contains(bins.count), "\(bins)")
        try await testSite.fetch(nil, "--tag", "even", "--tag", "tag 7", into: folder["many"]).succeeded()
        #expect(try await loaded(folder["many"]).count == 21)
    }

    /// Runs a program with access to a tag that counts the files; without a site no host is asked.
    private func access(_ tag: String, from site: String? = nil) async throws -> CommandResult {
        try await Command.run(
            ["access", tag, "--store", testSite.store] + testSite.keys
                + (site.map { ["--site", $0, "--trust", testSite.root] } ?? [])
                + ["--", "sh", "-c", "find -L \"$ASSETVAULT_RESOURCES\" -name 'file*' | wc -l"])
    }

    private func expectFiles(_ count: Int, in result: CommandResult) throws {
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(result.text.filter(\.isNumber) == "\(count)")
    }

    /// Offline a tag whose bin was never read is not unknown: only its packs can't be reached.
    @Test func offlineWithBins() async throws {
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url, "--tag", "tag 7").succeeded()
        try await server.stop()
        try expectFiles(1, in: try await access("tag 7"))
        try expectFiles(1, in: try await access("tag 7", from: server.url))
        for tag in ["tag 8", "odd", "tag 99"] {
            try await access(tag).failed(66, naming: "not all packs")
            try await access(tag, from: server.url).failed(68)
        }
        // The whole listing says which tags there are.
        try await testSite.fetch(nil, "--all").succeeded()
        try await access("tag 99").failed(67, naming: "did you mean 'tag ")
    }

    /// A pack with the tag `even` and another one, in a bin that does not hold the index of this tag.
    private func neighbours() throws -> (even: Int, other: Int)? {
        for name in try folder.names(in: "vault/site/metadata") where name.contains(/packs-.\.json/) {
            let bin = try folder.json("vault/site/metadata/\(name)").object("signed", at: name)
            let numbers = try bin.object("targets", at: name).compactMap { Int($0.0.filter(\.isNumber)) }
            guard case .object(let tags)? = bin[TagIndex.member], tags["even"] == nil,
                let even = numbers.first(where: { $0.isMultiple(of: 2) }),
                let other = numbers.first(where: { $0 != even })
            else { continue }
            return (even, other)
        }
        return nil
    }

    /// States of the site are never mixed: what was withdrawn since is among the packs of a tag until its index is read.
    @Test func aWithdrawnPack() async throws {
        try declare(Array(0..<40), bins: 16)
        try await testSite.publish()
        try await testSite.fetch(nil, "--tag", "even").succeeded()
        let (withdrawn, other) = try #require(try neighbours())
        try declare((0..<40).filter { $0 != withdrawn }, bins: 16, suffix: ", newer")
        try await testSite.publish()
        try await testSite.fetch(nil, "p\(other)").succeeded()
        try expectFiles(20, in: try await access("even"))
        try expectFiles(19, in: try await access("even", from: testSite.site))
        try expectFiles(19, in: try await access("even"))
    }
}
