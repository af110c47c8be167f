import StrictJSON
import Testing

/// The JSON output of commands that change something.
struct JSONAnswerTests {
    let workshop: Workshop
    let folder: TemporaryFolder

    init() async throws {
        workshop = try await Workshop(publishing: ["one", "two"])
        folder = workshop.folder
    }

    private func texts(_ name: String, of answer: CommandResult) throws -> [String?]? {
        try answer.succeeded().json()[name]?.elements?.map(\.text)
    }

    @Test func unlock() async throws {
        try await workshop.fetch(withKeys: false).succeeded()
        let unlock = ["unlock", "--store", workshop.store, "--json"] + workshop.keys
        let first = try await Command.run(unlock)
        #expect(try texts("loaded", of: first) == ["one", "two"])
        #expect(try first.json()["packs"]?.elements?.map { $0["state"]?.text } == ["loaded", "loaded"])
        #expect(try texts("loaded", of: await Command.run(unlock)) == [])
        let failed = try await Command.run(unlock + ["three"])
        #expect(try failed.exitCode == 66 && failed.json()["packs"]?.elements?.count == 2)
    }

    @Test func remove() async throws {
        try await workshop.fetch().succeeded()
        let some = try await Command.run("remove", "one", "three", "--store", workshop.store, "--json")
        #expect(try some.exitCode == 66 && some.json()["removed"]?.elements?.map(\.text) == ["one"])
        #expect(try some.json()["packs"]?.elements?.map { $0["state"]?.text } == ["absent", "loaded"])
    }

    @Test func repair() async throws {
        try await workshop.fetch(nil, "--sealed").succeeded()
        let name = try #require(workshop.files(in: "permanent/one").first { $0.hasSuffix(".avpack") })
        var bytes = try folder.bytes("store/permanent/one/\(name)")
        bytes[bytes.count / 2] ^= 1
        try folder.write("store/permanent/one/\(name)", bytes)
        let repair = ["repair", workshop.site, "--store", workshop.store, "--json"]
        #expect(try texts("repaired", of: await Command.run(repair)) == ["one"])
        #expect(try texts("repaired", of: await Command.run(repair)) == [])
    }

    @Test func open() async throws {
        let bench = try Bench()
        try await bench.seal()
        let out = bench.folder["out"]
        let answer = try await Command.run(["open", bench.pack, "-o", out, "--json"] + bench.keys)
            .succeeded().json()
        #expect(answer["output"]?.text == out && answer["version"] == 1)
        #expect(answer["entries"]?.number ?? 0 > 0 && answer["openedSize"]?.number ?? 0 > 0)
        try await Command.run(["open", bench.pack, "--tar", "-", "--json"] + bench.keys)
            .failed(64, naming: "--json")
    }
}
