import StrictJSON
import Testing

/// `list`: the packs of a site, without a store.
struct ListTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite(publishing: ["one", "two"])
        folder = testSite.folder
        try testSite.settings { settings in
            var packs = settings["packs"]?.members ?? [:]
            var pack = packs["two"]?.members ?? [:]
            pack["policy"] = "onDemand"
            pack["tags"] = ["campaign"]
            pack["traits"] = ["language": "de"]
            packs["two"] = .object(pack)
            settings["packs"] = .object(packs)
        }
        try await testSite.publish()
    }

    private func keyID() throws -> String {
        let ring: JSONValue = try folder.json("vault/keys/vault.jwks")
        return try #require(ring["keys"]?.elements?.first?["kid"]?.text)
    }

    @Test func lines() async throws {
        let result = try await Command.run("list", testSite.site, "--trust", testSite.root).succeeded()
        let lines = result.text.split(separator: "\n")
        #expect(lines.count == 2 && result.errorText.isEmpty, "\(result.text)\(result.errorText)")
        #expect(lines.first?.hasPrefix("one  version 1  prefetch") == true)
        for part in ["two  ", "onDemand", "campaign", "\"language\":\"de\"", try keyID()] {
            #expect(lines.last?.contains(part) == true, "\(part) in \(result.text)")
        }
    }

    @Test func json() async throws {
        try await testSite.served { url in
            let answer = try await Command.run("list", url, "--trust", testSite.root, "--json")
                .succeeded().json()
            #expect(answer["pinned"] == .bool(true))
            let packs = try #require(answer["packs"]?.elements)
            #expect(packs.map { $0["id"]?.text } == ["one", "two"])
            let two = try #require(packs.last)
            #expect(two["policy"]?.text == "onDemand" && two["tags"] == ["campaign"])
            #expect(two["traits"] == ["language": "de"] && two["version"] == 1)
            #expect(two["keys"]?.elements?.map(\.text) == [try keyID()])
            #expect(two["length"]?.number ?? 0 > 0 && two["openedSize"] == 3)
        }
    }

    /// Without a root the site is not trusted; with another root it is refused.
    @Test func trust() async throws {
        let open = try await Command.run("list", testSite.site, "--json").succeeded()
        #expect(try open.json()["pinned"] == .bool(false))
        #expect(open.errorText.contains("not pinned"))
        let other = try await TestSite()
        try await Command.run("list", testSite.site, "--trust", other.root).failed(76)
        try await Command.run("list", folder["nowhere"]).failed(66, naming: "nowhere")
    }
}
