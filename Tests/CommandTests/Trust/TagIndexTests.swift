import FaultServer
import Testing
import VaultBase
import VaultSite

/// The signed tag index of a listing in bins: which files a request for one tag reads.
@Suite(.timeLimit(.minutes(5))) struct TagIndexTests {
    let world: World

    /// Forty packs in 64 bins: each has a tag of its own, and `odd` or `even`.
    init() async throws {
        world = try await World()
        try declare(Array(0..<40))
        try await world.publish()
    }

    private func declare(_ numbers: [Int], bins: Int64? = 64, suffix: String = "") throws {
        var packs: JSONObject = [:]
        for number in numbers {
            try world.write("source/\(number)/file\(number)", "pack \(number)\(suffix)")
            packs["p\(number)"] = .object([
                "source": .string(world["source/\(number)"]), "policy": "onDemand",
                "tags": [.string("tag \(number)"), number.isMultiple(of: 2) ? "even" : "odd"],
            ])
        }
        try world.settings {
            $0["packs"] = .object(packs)
            $0["bins"] = bins.map { .integer($0) }
        }
    }

    @Test func aRequestReadsAFewBins() async throws {
        let server = try FaultServer(world.site)
        try await world.fetch("--tag \("tag 7")", from: server.url, into: world["one"]).succeeded()
        #expect(try await world.loaded(in: world["one"]) == ["p7"])
        let bins = server.found.filter { $0.hasPrefix("metadata/1.packs-") }
        #expect((1...2).contains(bins.count), "\(bins)")
        try await world.fetch("--tag even --tag \("tag 7")", into: world["many"]).succeeded()
        #expect(try await world.loaded(in: world["many"]).count == 21)
    }

    /// Runs a program with access to a tag that counts the files; without a site no host is asked.
    private func access(_ tag: String, from site: String? = nil) async throws -> CommandResult {
        let counting = "find -L \"$ASSETVAULT_RESOURCES\" -name 'file*' | wc -l"
        let options = site.map { ["--site", $0, "--trust", world.root] } ?? []
        return try await world.run("access \(tag) $STORE $KEYS \(options) -- sh -c \(counting)")
    }

    private func expectFiles(_ count: Int, in result: CommandResult) throws {
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(result.text.filter(\.isNumber) == "\(count)")
    }

    /// Offline a tag whose bin was never read is not unknown: only its packs can't be reached.
    @Test func offlineWithBins() async throws {
        let server = try FaultServer(world.site)
        try await world.fetch("--tag \("tag 7")", from: server.url).succeeded()
        try await server.stop()
        try expectFiles(1, in: try await access("tag 7"))
        try expectFiles(1, in: try await access("tag 7", from: server.url))
        for tag in ["tag 8", "odd", "tag 99"] {
            try await access(tag).failed(66, naming: "not all packs")
            try await access(tag, from: server.url).failed(68)
        }
        // The whole listing says which tags there are.
        try await world.fetch("--all").succeeded()
        try await access("tag 99").failed(67, naming: "did you mean 'tag ")
    }

    /// A pack with the tag `even` and one with the tag `odd`, in a bin that does not hold the index of `even`.
    private func neighbours() throws -> (even: Int, odd: Int)? {
        for name in try world.names(in: "vault/site/metadata") where name.contains(/packs-.\.json/) {
            let bin = try world.json("vault/site/metadata/\(name)").object("signed", at: name)
            let numbers = try bin.object("targets", at: name).compactMap { Int($0.0.filter(\.isNumber)) }
            guard case .object(let tags)? = bin[TagIndex.member], tags["even"] == nil,
                let even = numbers.first(where: { $0.isMultiple(of: 2) }),
                let odd = numbers.first(where: { !$0.isMultiple(of: 2) })
            else { continue }
            return (even, odd)
        }
        return nil
    }

    /// States of the site are never mixed: what was withdrawn since is among the packs of a tag until its index is read.
    @Test func aWithdrawnPack() async throws {
        try declare(Array(0..<40), bins: 16)
        try await world.publish()
        try await world.fetch("--tag even").succeeded()
        let (withdrawn, odd) = try #require(try neighbours())
        try declare((0..<40).filter { $0 != withdrawn }, bins: 16, suffix: ", newer")
        try await world.publish()
        try await world.fetch("p\(odd)").succeeded()
        try expectFiles(20, in: try await access("even"))
        try expectFiles(19, in: try await access("even", from: world.site))
        try expectFiles(19, in: try await access("even"))
    }
}
