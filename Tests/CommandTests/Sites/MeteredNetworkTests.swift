import Testing

/// What comes over a metered network.
struct MeteredNetworkTests {
    let testSite: TestSite

    init() async throws {
        testSite = try await TestSite()
        let noise = (0..<20_000).map { _ in UInt8.random(in: 0...255) }
        for name in ["start", "later", "asked"] { try testSite.folder.write("\(name)/file", noise) }
        try testSite.folder.write(
            "vault/vault.json",
            """
            {"format": 1, "packs": {
              "start": {"source": "../start", "policy": "essential"},
              "later": {"source": "../later"},
              "asked": {"source": "../asked", "policy": "onDemand", "tags": ["level"]}}}
            """)
        try await testSite.publish()
    }

    private func loaded() async throws -> [String] {
        try await testSite.status().values.filter { $0.state == "loaded" }.map(\.id).sorted()
    }

    /// Nobody asked for the prefetch pack.
    @Test func prefetchPacksAreLeft() async throws {
        try await testSite.fetch(nil, "--metered").succeeded()
        #expect(try await loaded() == ["start"])
        try await testSite.fetch().succeeded()
        #expect(try await loaded() == ["later", "start"])
    }

    @Test func anAllowance() async throws {
        try await testSite.fetch(nil, "--metered-allowance", "1KB").failed(64, naming: "--metered")
        let limited = ["--metered", "--metered-allowance", "1KB"]
        try await testSite.fetch(nil, "asked", "--metered", "--metered-allowance", "1KB")
            .failed(78, naming: "asked", "the 1000 that may come over a metered network")
        let access =
            ["access", "level", "--store", testSite.store, "--site", testSite.site, "--trust", testSite.root]
            + testSite.keys
        try await Command.run(access + limited + ["--", "true"]).failed(78, naming: "metered network")
        #expect(try await loaded().isEmpty)
        // What it costs is reported all the same.
        let costs = try await testSite.fetch(
            nil, "asked", "--metered", "--metered-allowance", "1KB", "--dry-run"
        ).succeeded()
        #expect(costs.text.contains("asked"))
        try await testSite.fetch(nil, "asked", "--metered", "--metered-allowance", "100KB").succeeded()
        #expect(try await loaded() == ["asked"])
    }
}
