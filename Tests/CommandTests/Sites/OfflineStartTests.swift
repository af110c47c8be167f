import FaultServer
import Testing
import VaultBase

/// A host that goes away during a refresh: packs that were accepted before still open.
struct OfflineStartTests {
    let world: World

    init() async throws {
        world = try await World()
        try world.write(
            "vault/vault.json",
            """
            {"format": 1, "packs": {
                "one": {"source": "../one", "policy": "essential"}, "two": {"source": "../two"},
                "three": {"source": "../three", "policy": "onDemand"}
            }}
            """)
        for name in ["one", "two", "three"] { try world.write("\(name)/file", name) }
        try await world.publish()
    }

    /// A refresh that stopped after the timestamp leaves inconsistent metadata: packs accepted before still open.
    @Test func anInterruptedRefresh() async throws {
        try await world.fetch(withKeys: false).succeeded()
        try world.write("one/file", "new")
        try await world.publish()
        let server = try FaultServer(world.site) { $0.path.contains("snapshot") ? .hangUp : .file }
        #expect(try await world.fetch(from: server.url).exitCode == 69)
        #expect(try await world.status()["one"]?.state == "loaded")
        #expect(try await world.status()["one"]?.version == 1)
        try await world.fetch().succeeded()
        #expect(try await world.status()["one"]?.version == 2)
    }

    /// The same after a key of the timestamp was replaced, which makes clients forget the timestamp before it.
    @Test func anInterruptedRefreshAfterARotation() async throws {
        try await world.fetch(withKeys: false).succeeded()
        try await world.trust("rotate timestamp").succeeded()
        let server = try FaultServer(world.site) { $0.path.contains("timestamp") ? .hangUp : .file }
        #expect(try await world.fetch(from: server.url, withKeys: false).exitCode == 69)
        let root: JSONValue = try world.json("store/permanent/@trust/root.json")
        #expect(root["signed", "version"] == 2)
        try await world.run("unlock $STORE $KEYS").succeeded()
        #expect(
            try await world.status().mapValues(\.state)
                == ["one": "loaded", "two": "loaded", "three": "absent"])
    }
}
