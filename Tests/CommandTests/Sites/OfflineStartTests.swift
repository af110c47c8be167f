import FaultServer
import Foundation
import StrictJSON
import Testing

/// Starting without a host: the stored metadata list the packs, and downloaded packs open.
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

    private func download() async throws {
        try await Command.run(
            "downloader", testSite.site, "--store", testSite.store, "--trust", testSite.root, "--request",
            "install"
        ).succeeded()
    }

    /// A host that nobody listens on.
    private func nowhere() throws -> String {
        let socket = try ListeningSocket()
        socket.stop()
        return "http://127.0.0.1:\(socket.port)/"
    }

    @Test func statusListsTheStoredMetadata() async throws {
        try await testSite.fetch(nil, "one").succeeded()
        let status = try await testSite.status()
        #expect(status.mapValues(\.state) == ["one": "loaded", "two": "absent", "three": "absent"])
    }

    /// Waiting packs are transferred first, whatever happens to the host.
    @Test(arguments: [true, false]) func aWaitingPackOpensOffline(isByDownloader: Bool) async throws {
        if isByDownloader {
            try await download()
        } else {
            try await testSite.fetch(withKeys: false).succeeded()
        }
        let result = try await testSite.fetch(try nowhere())
        #expect(result.exitCode == 68, "\(result.errorText)")
        let status = try await testSite.status()
        #expect(status.mapValues(\.state) == ["one": "loaded", "two": "loaded", "three": "absent"])
        #expect(try await testSite.tree(of: "one") == Tree(testSite.folder["one"]))
    }

    /// Expiry ends new trust in a host; downloaded packs still open.
    @Test(arguments: ["unlock", "fetch"]) func aWaitingPackOpensAfterExpiry(way: String) async throws {
        try await download()
        let later = try Clock.shifted(byDays: 400)
        if way == "unlock" {
            try await Command.run(["unlock", "--store", testSite.store] + testSite.keys, through: later)
                .succeeded()
        } else {
            #expect(try await testSite.fetch(through: later).exitCode == 76)
        }
        #expect(try await testSite.status()["one"]?.state == "loaded")
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

    /// An update of the app ships a newer root than the store has ever seen, and there is no network.
    @Test(arguments: [true, false]) func aNewerRootIsShipped(isNext: Bool) async throws {
        try await testSite.fetch(nil, "three", withKeys: false).succeeded()
        try await download()
        for _ in 1...(isNext ? 1 : 2) { try await testSite.trust("rotate", "timestamp").succeeded() }
        let unlock = ["unlock", "--store", testSite.store] + testSite.keys + ["--trust"]
        let newest = testSite.folder["vault/site/metadata/\(isNext ? 2 : 3).root.json"]
        let other = try await TestSite()
        try await other.trust("rotate", "timestamp").succeeded()
        if isNext {
            try await Command.run(unlock + [other.folder["vault/site/metadata/2.root.json"]])
                .failed(76, naming: "--trust")
            #expect(try await testSite.status()["one"]?.state == "toBeTransferred")
        }
        try await Command.run(unlock + [newest]).succeeded()
        #expect(
            try await testSite.status().mapValues(\.state)
                == ["one": "loaded", "two": "loaded", "three": "loaded"])
        #expect(try await testSite.tree(of: "one") == Tree(testSite.folder["one"]))
    }

    /// Of a listing in hash bins the app keeps the top; the bins are read from the downloader's metadata.
    @Test func aPackListedInBinsOpens() async throws {
        try testSite.settings { $0["bins"] = .integer(4) }
        try await testSite.publish()
        try await download()
        try await Command.run(["unlock", "--store", testSite.store] + testSite.keys).succeeded()
        #expect(
            try await testSite.status().mapValues(\.state)
                == ["one": "loaded", "two": "loaded", "three": "absent"])
    }

    /// A waiting pack that the app's own metadata list does not need the downloader's newer ones.
    @Test func thePackListedByTheAppNeedsNoOtherMetadata() async throws {
        try await testSite.fetch(nil, "one", withKeys: false).succeeded()
        try await download()
        try testSite.folder.write("three/file", "new")
        try await testSite.publish()
        try await download()
        let timestamp = "store/permanent/@trust/timestamp.json"
        let own = try testSite.folder.bytes(timestamp)
        #expect(try testSite.folder.bytes("store/shared/@trust/timestamp.json") != own)
        let unlock = ["unlock", "--store", testSite.store] + testSite.keys
        try await Command.run(unlock).succeeded()
        #expect(try await testSite.status()["one"]?.state == "loaded")
        #expect(try testSite.folder.bytes(timestamp) == own)
        // A version that only they list is.
        try testSite.folder.write("one/file", "new")
        try await testSite.publish()
        try await download()
        try await Command.run(unlock).succeeded()
        #expect(try await testSite.status()["one"]?.version == 2)
        #expect(try testSite.folder.bytes(timestamp) != own)
    }
}
