import Testing

/// Which packs a fetch selects.
struct SelectionTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        for name in ["start", "later", "asked", "plain"] { try folder.write("\(name)/file", name) }
        try folder.write(
            "vault/vault.json",
            """
            {"format": 1, "packs": {
              "start": {"source": "../start", "policy": "essential"},
              "later": {"source": "../later", "policy": "prefetch", "tags": ["winter"]},
              "on/asked": {"source": "../asked", "policy": "onDemand", "tags": ["campaign", "winter"]},
              "on": {"source": "../plain"}}}
            """)
        try await testSite.publish()
    }

    private func loaded() async throws -> [String] {
        try await testSite.status().values.filter { $0.state == "loaded" }.map(\.id).sorted()
    }

    /// Prefetch is the default policy.
    @Test func withoutIDsEssentialAndPrefetchPacks() async throws {
        try await testSite.fetch().succeeded()
        #expect(try await loaded() == ["later", "on", "start"])
    }

    @Test func theEssentialPackComesFirst() async throws {
        let result = try await testSite.fetch(nil, "--all", "--parallel", "1").succeeded()
        #expect(result.errorText.hasPrefix("loaded  start\n"))
    }

    @Test func allPacks() async throws {
        try await testSite.fetch(nil, "--all").succeeded()
        #expect(try await loaded() == ["later", "on", "on/asked", "start"])
        // One pack's home lies below another's.
        #expect(try await testSite.tree(of: "on").files == ["file"])
        #expect(try await testSite.tree(of: "on/asked").files == ["file"])
    }

    @Test func namedPacksOnly() async throws {
        try await testSite.fetch(nil, "on/asked", "later").succeeded()
        #expect(try await loaded() == ["later", "on/asked"])
    }

    @Test func packsWithATag() async throws {
        try await testSite.fetch(nil, "--tag", "campaign").succeeded()
        #expect(try await loaded() == ["on/asked"])
        let dryRun = try await testSite.fetch(nil, "--tag", "winter", "--tag", "campaign", "--dry-run")
            .succeeded()
        #expect(dryRun.text.contains("later") && !dryRun.text.contains("start"))
        try await testSite.fetch(nil, "--tag", "winter", "--tag", "campaign").succeeded()
        #expect(try await loaded() == ["later", "on/asked"])
    }

    /// The packs of the other tag are not fetched either.
    @Test func anUnknownTag() async throws {
        for option in ["--dry-run", "--strict"] {
            try await testSite.fetch(nil, "--tag", "wintr", "--tag", "campaign", option)
                .failed(67, naming: "has the tag 'wintr'", "did you mean 'winter'?")
        }
        #expect(try await loaded().isEmpty)
    }

    @Test func otherSelectorsAreRefused() async throws {
        try await testSite.fetch(nil, "--tag", "winter", "later").failed(64, naming: "--tag")
        try await testSite.fetch(nil, "--all", "--tag", "winter").failed(64, naming: "--tag")
        try await testSite.fetch(nil, "--all", "later").failed(64, naming: "--all")
    }

    @Test func anUnknownPackIsMissing() async throws {
        try await testSite.fetch(nil, "unknown").failed(66, naming: "'unknown'")
        // The error lists the known packs.
        try await testSite.fetch(nil, "strat").failed(66, naming: "'strat'", "later, on, on/asked, start")
        try await Command.run("path", "unknown", "--store", testSite.store).failed(66, naming: "'unknown'")
    }

    @Test(arguments: ["Upper", "a//b", "/a", "a/", "../a", "a/..", "ä", "a b", "", "-a\u{7}"])
    func anInvalidIDIsRefused(id: String) async throws {
        try await testSite.fetch(nil, "--", id).failed(64)
        try await Command.run("path", "--store", testSite.store, "--", id).failed(64)
        try await Command.run("publish", testSite.vault, "--pack", "\(id)=\(folder["start"])").failed(64)
    }

    @Test func aMissingStoreHasNoPacks() async throws {
        try await Command.run("status", "--store", testSite.store).failed(66, naming: testSite.store)
        #expect(try !folder.exists("store"))
    }

    /// A finished fetch leaves the downloads folder empty.
    @Test func aSiteWithoutPacksIsFetched() async throws {
        try folder.write("vault/vault.json", #"{"format": 1, "packs": {}}"#)
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        #expect(try testSite.files(in: "ephemeral") == [])
        try await testSite.fetch(nil, "start").failed(66, naming: "'start'", "none")
    }

    @Test func errorsNameOnlySomeOfManyPacks() async throws {
        let packs = (10..<30).map { #""p\#($0)": {"source": "../start"}"# }.joined(separator: ", ")
        try folder.write("vault/vault.json", #"{"format": 1, "packs": {\#(packs)}}"#)
        try await testSite.publish()
        let result = try await testSite.fetch(nil, "p99").failed(66, naming: "p10, p11", "p17 and 12 more")
        #expect(!result.errorText.contains("p18"))
    }
}
