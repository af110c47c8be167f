import Testing

/// What comes over a metered network.
struct MeteredNetworkTests {
    let world: World

    init() async throws {
        world = try await World()
        let noise = Bytes.random(20_000, seed: 1)
        for name in ["start", "later", "asked"] { try world.write("\(name)/file", noise) }
        try world.write(
            "vault/vault.json",
            """
            {"format": 1, "packs": {
              "start": {"source": "../start", "policy": "essential"},
              "later": {"source": "../later"},
              "asked": {"source": "../asked", "policy": "onDemand", "tags": ["level"]}}}
            """)
        try await world.publish()
    }

    /// Nobody asked for the prefetch pack.
    @Test func prefetchPacksAreLeft() async throws {
        try await world.fetch("--metered").succeeded()
        #expect(try await world.loaded() == ["start"])
        try await world.fetch().succeeded()
        #expect(try await world.loaded() == ["later", "start"])
    }

    @Test func anAllowance() async throws {
        try await world.fetch("--metered-allowance 1KB").failed(64, naming: "--metered")
        let limited: Words = "--metered --metered-allowance 1KB"
        try await world.fetch("asked \(limited)").failed(
            78, naming: "asked", "the 1000 that may come over a metered network")
        try await world.run("access level $STORE --site $SITE $TRUST $KEYS \(limited) -- true").failed(
            78, naming: "metered network")
        #expect(try await world.loaded().isEmpty)
        // What it costs is reported all the same.
        let costs = try await world.fetch("asked \(limited) --dry-run").succeeded()
        #expect(costs.text.contains("asked"))
        try await world.fetch("asked --metered --metered-allowance 100KB").succeeded()
        #expect(try await world.loaded() == ["asked"])
    }
}
