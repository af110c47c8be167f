import StrictJSON
import Testing

/// The JSON output of commands that change something.
struct JSONAnswerTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite(publishing: ["one", "two"])
        folder = testSite.folder
    }

    private func texts(_ name: String, of answer: CommandResult) throws -> [String?]? {
        try answer.succeeded().json()[name]?.elements?.map(\.text)
    }

    @Test func unlock() async throws {
        try await testSite.fetch(withKeys: false).succeeded()
        let unlock = ["unlock", "--store", testSite.store, "--json"] + testSite.keys
        let first = try await Command.run(unlock)
        #expect(try texts("loaded", of: first) == ["one", "two"])
        #expect(try first.json()["packs"]?.elements?.map { $0["state"]?.text } == ["loaded", "loaded"])
        #expect(try texts("loaded", of: await Command.run(unlock)) == [])
        let failed = try await Command.run(unlock + ["three"])
        #expect(try failed.exitCode == 66 && failed.json()["packs"]?.elements?.count == 2)
    }

    @Test func remove() async throws {
        try await testSite.fetch().succeeded()
        let some = try await Command.run("remove", "one", "three", "--store", testSite.store, "--json")
        #expect(try some.exitCode == 66 && some.json()["removed"]?.elements?.map(\.text) == ["one"])
        #expect(try some.json()["packs"]?.elements?.map { $0["state"]?.text } == ["absent", "loaded"])
    }

    @Test func repair() async throws {
        try await testSite.fetch(nil, "--sealed").succeeded()
        let name = try #require(testSite.files(in: "permanent/one").first { $0.hasSuffix(".avpack") })
        var bytes = try folder.bytes("store/permanent/one/\(name)")
        bytes[bytes.count / 2] ^= 1
        try folder.write("store/permanent/one/\(name)", bytes)
        let repair = ["repair", testSite.site, "--store", testSite.store, "--json"]
        #expect(try texts("repaired", of: await Command.run(repair)) == ["one"])
        #expect(try texts("repaired", of: await Command.run(repair)) == [])
    }

    @Test func open() async throws {
        let samplePack = try SamplePack()
        try await samplePack.seal()
        let out = samplePack.folder["out"]
        let answer = try await Command.run(["open", samplePack.pack, "-o", out, "--json"] + samplePack.keys)
            .succeeded().json()
        #expect(answer["output"]?.text == out && answer["version"] == 1)
        #expect(answer["entries"]?.number ?? 0 > 0 && answer["openedSize"]?.number ?? 0 > 0)
        try await Command.run(["open", samplePack.pack, "--tar", "-", "--json"] + samplePack.keys)
            .failed(64, naming: "--json")
    }
}
