import Foundation
import Testing

/// A vault remembers which timestamp it published last: an older one is a rollback also under a newer root, unless that root lets
/// clients forget versions (TUF section 5.3.11).
struct PublishedMemoryTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    /// A copy of the vault from before its last publications, whose site has a newer root and a lower timestamp.
    private var older: String { folder["older"] }
    private var host: String { folder["host"] }

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try await Tool.run("cp", "-a", testSite.vault, folder["older"])
        for version in 2...4 {
            try folder.write("level/file", "version \(version)")
            try await testSite.publish()
        }
    }

    enum NewerRoot: CaseIterable {
        /// Clients remember what they have seen.
        case namesMoreKeys
        case replacesTheTimestampsKey
    }

    private func publishRoot(_ newer: NewerRoot) async throws {
        switch newer {
        case .namesMoreKeys:
            let colleague = try await testSite.makeKey("colleague")
            try await Command.run("trust", "add-key", older, "targets", colleague.publicKey).succeeded()
        case .replacesTheTimestampsKey:
            try await Command.run("trust", "rotate", older, "timestamp").succeeded()
        }
        try #require(try folder.exists("older/site/metadata/2.root.json"))
    }

    private func rememberNewest() async throws {
        try await Tool.run("cp", folder["vault/.published"], folder["older/.published"])
    }

    private func expect(
        _ newer: NewerRoot, _ result: CommandResult, naming part: String
    ) throws {
        switch newer {
        case .namesMoreKeys: result.failed(76, naming: part)
        case .replacesTheTimestampsKey: try result.succeeded()
        }
    }

    @Test(arguments: NewerRoot.allCases) func aHost(newer: NewerRoot) async throws {
        try await publishRoot(newer)
        try await rememberNewest()
        try await Tool.run("mv", folder["older/site"], host)
        let result = try await Command.run("publish", older, "--against", host)
        try expect(newer, result, naming: "version 4 was published from here, under root version 1")
        #expect(try folder.exists("older/site/metadata/timestamp.json") == (newer != .namesMoreKeys))
        // The memory goes on with the new root.
        let memory = String(decoding: try folder.bytes("older/.published"), as: UTF8.self)
        #expect(memory.hasPrefix(newer == .namesMoreKeys ? "1 4 " : "2 3 "), "\(memory)")
    }

    @Test(arguments: NewerRoot.allCases) func theVaultsOwnSite(newer: NewerRoot) async throws {
        try await publishRoot(newer)
        try await rememberNewest()
        let before = try Tree(folder["older/site"])
        let result = try await Command.run("publish", older)
        try expect(newer, result, naming: "version 4 was published from here, under root version 1")
        #expect(try (Tree(folder["older/site"]) == before) == (newer == .namesMoreKeys))
    }

    /// What waits in site/ to be uploaded is newer than a host that went back; but a root that lets clients forget it replaces it.
    @Test(arguments: NewerRoot.allCases) func whatWaitsToBeUploaded(newer: NewerRoot) async throws {
        try await publishRoot(newer)
        try FileManager.default.removeItem(atPath: folder["older/.published"])
        try await Tool.run("mv", folder["older/site"], host)
        try folder.write(
            "older/site/metadata/timestamp.json", folder.bytes("vault/site/metadata/timestamp.json"))
        let result = try await Command.run("publish", older, "--against", host)
        try expect(newer, result, naming: "upload \(older)/site first")
    }

    /// A timestamp in site/ that none of the host's roots verifies is of another publication.
    @Test func aRootThatWaitsToBeUploaded() async throws {
        try await Tool.run("cp", "-a", testSite.site, host)
        for _ in 1...2 { try await testSite.trust("rotate", "timestamp").succeeded() }
        try await testSite.publish()
        try FileManager.default.removeItem(atPath: folder["vault/.published"])
        try await Command.run("publish", testSite.vault, "--against", host).failed(
            76, naming: "none of the host's roots", "upload \(testSite.site) first")
    }
}
