import FaultServer
import Foundation
import StrictJSON
import Testing

/// A host that goes away during a refresh: packs that were accepted before still open.
struct OfflineStartTests {
    let testSite: TestSite

    init() async throws {
        testSite = try await TestSite()
        try testSite.folder.write(
            "vault/vault.json",
            """
            {"format": 1, "packs": {
                "one": {"source": "../one", "policy": "essential"}, "two": {"source": "../two"},
                "three": {"source": "../three", "policy": "onDemand"}
            }}
            """)
        for name in ["one", "two", "three"] { try testSite.folder.write("\(name)/file", name) }
        try await testSite.publish()
    }

    /// A refresh that stopped after the timestamp leaves inconsistent metadata: packs accepted before still open.
    @Test func anInterruptedRefresh() async throws {
        try await testSite.fetch(withKeys: false).succeeded()
        try testSite.folder.write("one/file", "new")
        try await testSite.publish()
        let server = try FaultServer(testSite.site) { $0.path.contains("snapshot") ? .hangUp : .file }
        #expect(try await testSite.fetch(server.url).exitCode == 69)
        #expect(try await testSite.status()["one"]?.state == "loaded")
        #expect(try await testSite.status()["one"]?.version == 1)
        try await testSite.fetch().succeeded()
        #expect(try await testSite.status()["one"]?.version == 2)
    }

    /// The same after a key of the timestamp was replaced, which makes clients forget the timestamp before it.
    @Test func anInterruptedRefreshAfterARotation() async throws {
        try await testSite.fetch(withKeys: false).succeeded()
        try await testSite.trust("rotate", "timestamp").succeeded()
        let server = try FaultServer(testSite.site) { $0.path.contains("timestamp") ? .hangUp : .file }
        #expect(try await testSite.fetch(server.url, withKeys: false).exitCode == 69)
        let root: JSONValue = try testSite.folder.json("store/permanent/@trust/root.json")
        #expect(root["signed", "version"] == 2)
        try await Command.run(["unlock", "--store", testSite.store] + testSite.keys).succeeded()
        #expect(
            try await testSite.status().mapValues(\.state)
                == ["one": "loaded", "two": "loaded", "three": "absent"])
    }
}
