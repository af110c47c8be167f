import FaultServer
import Foundation
import StrictJSON
import Testing
import VaultCrypto

/// A slow fetch that is overtaken by one with newer metadata.
@Suite(.timeLimit(.minutes(5))) struct OvertakenFetchTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    /// Version 1 is on `old-site`, version 2 on the site, and nothing in the store.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try await Tool.run("cp", "-a", testSite.site, folder["old-site"])
        try folder.write("level/file", "version 2")
        try await testSite.publish()
    }

    enum Way: CaseIterable { case shared, opened, sealed }

    private func fetch(_ way: Way, from url: String) async throws -> CommandResult {
        switch way {
        case .shared: try await testSite.fetch(url, withKeys: false)
        case .opened: try await testSite.fetch(url)
        case .sealed: try await testSite.fetch(url, "--sealed")
        }
    }

    /// Version 1 is paused during its download until version 2 is staged.
    private func overtake(_ slow: Way, by fast: Way) async throws {
        let gate = Gate()
        let server = try FaultServer(folder["old-site"]) { request in
            if request.isForPack { gate.pass() }
            return .file
        }
        async let overtaken = fetch(slow, from: server.url)
        do {
            defer { gate.open() }
            try await gate.arrival()
            try await fetch(fast, from: testSite.site).succeeded()
        }
        try await overtaken.succeeded()
    }

    @Test(arguments: Way.allCases) func aLoadedVersionIsKept(slow: Way) async throws {
        try await overtake(slow, by: .opened)
        let status = try await testSite.status()["level"]
        #expect(status?.state == "loaded" && status?.version == 2 && status?.waitingVersion == nil)
        // The requested form is kept, whoever requested it.
        try StoreContent(loaded: 2, isSealed: slow == .sealed).expect(
            of: "level", in: testSite.store, "\(slow)")
        // The old version uses no space.
        let names = try folder.names(in: "store/permanent/level")
        #expect(
            names.count == (slow == .sealed ? 3 : 4) && !names.contains { $0.hasPrefix("@1-") }, "\(names)")
        #expect(try testSite.files(in: "shared").filter { $0.hasSuffix(".avpack") } == [])
    }

    @Test func aWaitingVersionIsKept() async throws {
        try await overtake(.shared, by: .shared)
        let status = try await testSite.status()["level"]
        #expect(status?.waitingVersion == 2 && status?.version == nil, "\(status as Any)")
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url).succeeded()
        #expect(server.packs.isEmpty)
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }

    /// With a key the slow fetch opens the version that the fast one left waiting.
    @Test(arguments: [Way.opened, .sealed]) func aWaitingVersionIsOpened(slow: Way) async throws {
        try await overtake(slow, by: .shared)
        let status = try await testSite.status()["level"]
        #expect(status?.state == "loaded" && status?.version == 2 && status?.waitingVersion == nil)
        #expect(status?.form == (slow == .sealed ? "sealed" : "opened"))
    }

    /// A record that claims unverified metadata is ignored and corrected.
    @Test func aRecordBeyondTheVerifiedMetadataIsRefused() async throws {
        let record = "store/permanent/@state/level/@record.json"
        try await testSite.fetch(folder["old-site"]).succeeded()
        var json: JSONObject = try folder.json(record)
        json["snapshotVersion"] = .integer((1 << 53) - 1)
        json["checksum"] = nil
        let content = JSONValue.object(json).canonical()
        json["checksum"] = .string(SHA256.hash(content.span).hex)
        try folder.write(record, JSONValue.object(json).canonical())
        try await testSite.fetch().succeeded()
        #expect(try await testSite.status()["level"]?.version == 2)
        let healed: JSONObject = try folder.json(record)
        #expect(healed["snapshotVersion"] == .integer(2))
    }
}
