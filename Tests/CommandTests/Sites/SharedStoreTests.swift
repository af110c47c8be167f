import FaultServer
import Foundation
import Testing

/// Several processes with one store, several publishers of one vault.
struct SharedStoreTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/noise", Bytes.random(4 << 20, seed: 1))
        try folder.write("other/noise", Bytes.random(1 << 20, seed: 2))
        try await testSite.publish("--pack", "level=\(folder["level"])", "--pack", "other=\(folder["other"])")
    }

    @Test(arguments: [[true, true], [true, false], [false, false], [true, true, false, false, true]])
    func concurrentFetchesDownloadOnce(withKeys: [Bool]) async throws {
        let server = try FaultServer(testSite.site)
        try await withThrowingTaskGroup { group in
            for withKeys in withKeys {
                group.addTask { try await testSite.fetch(server.url, withKeys: withKeys).succeeded() }
            }
            try await group.waitForAll()
        }
        // Header and footer are known from the metadata.
        let sizes = try ["level", "other"].map {
            try folder.bytes("vault/site/\(testSite.publishedPack($0))").count - 64 - 128
        }
        #expect(server.packBytes == sizes.reduce(0, +), "each pack once")
        #expect(try testSite.files(in: "ephemeral") == [])
        try await testSite.fetch(server.url).succeeded()
        for id in ["level", "other"] {
            #expect(try await testSite.tree(of: id) == Tree(folder[id]))
            #expect(try await testSite.status()[id]?.state == "loaded")
        }
    }

    /// A sealed and an opened form at once: either may win, and the result is complete.
    @Test func fetchesInTwoForms() async throws {
        async let opened = testSite.fetch()
        async let sealed = testSite.fetch(nil, "--sealed")
        try await opened.succeeded()
        try await sealed.succeeded()
        let form = try await testSite.status()["level"]?.form
        let path = try await testSite.path(of: "level")
        if form == "opened" {
            #expect(try Tree(path) == Tree(folder["level"]))
        } else {
            try await Command.run(["open", path, "-o", folder["opened"]] + testSite.keys).succeeded()
            #expect(try Tree(folder["opened"]) == Tree(folder["level"]))
        }
    }

    @Test func publishersTakeTurns() async throws {
        try folder.write("level/noise", Bytes.random(4 << 20, seed: 3))
        let results = try await withThrowingTaskGroup { group in
            for _ in 0..<3 { group.addTask { try await Command.run("publish", testSite.vault) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.contains { $0.exitCode == 0 })
        for result in results where result.exitCode != 0 { result.failed(75) }
        try await testSite.publish()
        try await testSite.fetch().succeeded()
        #expect(try await testSite.status()["level"]?.version == 2)
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }
}
