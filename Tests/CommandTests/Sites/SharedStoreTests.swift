import FaultServer
import Foundation
import Testing

/// Several processes with one store, several publishers of one vault.
struct SharedStoreTests {
    let workshop: Workshop
    let folder: TemporaryFolder

    init() async throws {
        workshop = try await Workshop()
        folder = workshop.folder
        try folder.write("level/noise", Bytes.random(4 << 20, seed: 1))
        try folder.write("other/noise", Bytes.random(1 << 20, seed: 2))
        try await workshop.publish("--pack", "level=\(folder["level"])", "--pack", "other=\(folder["other"])")
    }

    @Test(arguments: [[true, true], [true, false], [false, false], [true, true, false, false, true]])
    func concurrentFetchesDownloadOnce(withKeys: [Bool]) async throws {
        let server = try FaultServer(workshop.site)
        try await withThrowingTaskGroup { group in
            for withKeys in withKeys {
                group.addTask { try await workshop.fetch(server.url, withKeys: withKeys).succeeded() }
            }
            try await group.waitForAll()
        }
        // Header and footer are known from the metadata.
        let sizes = try ["level", "other"].map {
            try folder.bytes("vault/site/\(workshop.publishedPack($0))").count - 64 - 128
        }
        #expect(server.packBytes == sizes.reduce(0, +), "each pack once")
        #expect(try workshop.files(in: "ephemeral") == [])
        try await workshop.fetch(server.url).succeeded()
        for id in ["level", "other"] {
            #expect(try await workshop.tree(of: id) == Tree(folder[id]))
            #expect(try await workshop.status()[id]?.state == "loaded")
        }
    }

    /// A sealed and an opened form at once: either may win, and the result is complete.
    @Test func fetchesInTwoForms() async throws {
        async let opened = workshop.fetch()
        async let sealed = workshop.fetch(nil, "--sealed")
        try await opened.succeeded()
        try await sealed.succeeded()
        let form = try await workshop.status()["level"]?.form
        let path = try await workshop.path(of: "level")
        if form == "opened" {
            #expect(try Tree(path) == Tree(folder["level"]))
        } else {
            try await Command.run(["open", path, "-o", folder["opened"]] + workshop.keys).succeeded()
            #expect(try Tree(folder["opened"]) == Tree(folder["level"]))
        }
    }

    @Test func publishersTakeTurns() async throws {
        try folder.write("level/noise", Bytes.random(4 << 20, seed: 3))
        let results = try await withThrowingTaskGroup { group in
            for _ in 0..<3 { group.addTask { try await Command.run("publish", workshop.vault) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.contains { $0.exitCode == 0 })
        for result in results where result.exitCode != 0 { result.failed(75) }
        try await workshop.publish()
        try await workshop.fetch().succeeded()
        #expect(try await workshop.status()["level"]?.version == 2)
        #expect(try await workshop.tree(of: "level") == Tree(folder["level"]))
    }
}
