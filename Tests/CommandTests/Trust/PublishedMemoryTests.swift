import Foundation
import Testing

/// A vault remembers what it published last: older metadata are a rollback also under a newer root, unless that root lets clients
/// forget versions (TUF section 5.3.11), and removes the keys that may have signed them.
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
        /// Clients forget what they have seen; but only the timestamp can be a thief's.
        case replacesTheTimestampsKey
        case replacesAllKeys

        var isRefused: Bool { self != .replacesAllKeys }
    }

    private func publishRoot(_ newer: NewerRoot) async throws {
        switch newer {
        case .namesMoreKeys:
            let colleague = try await testSite.makeKey("colleague")
            try await Command.run("trust", "add-key", older, "targets", colleague.publicKey).succeeded()
        case .replacesTheTimestampsKey:
            try await Command.run("trust", "rotate", older, "timestamp").succeeded()
        case .replacesAllKeys:
            for role in ["snapshot", "timestamp", "targets"] {
                try await Command.run("trust", "rotate", older, role).succeeded()
            }
        }
        try #require(try folder.exists("older/site/metadata/2.root.json"))
    }

    private func rememberNewest() async throws {
        try await Tool.run("cp", folder["vault/.published"], folder["older/.published"])
    }

    private func expect(
        _ newer: NewerRoot, _ result: CommandResult, naming part: String, warns: Bool = true
    ) throws {
        guard !newer.isRefused else {
            result.failed(76, naming: part)
            return
        }
        try result.succeeded()
        guard warns else { return }
        #expect(result.errorText.contains("warning: it has "), "\(result.errorText)")
        #expect(result.errorText.contains("see that this is your newest publication"))
    }

    @Test(arguments: NewerRoot.allCases) func aHost(newer: NewerRoot) async throws {
        try await publishRoot(newer)
        try await rememberNewest()
        try await Tool.run("mv", folder["older/site"], host)
        let result = try await Command.run("publish", older, "--against", host)
        try expect(newer, result, naming: "version 4 was published from here, under root version 1")
        #expect(try folder.exists("older/site/metadata/timestamp.json") == !newer.isRefused)
        // The memory goes on with the new root.
        let memory = String(decoding: try folder.bytes("older/.published"), as: UTF8.self)
        #expect(memory.hasPrefix(newer.isRefused ? "1 4 " : "4 5 "), "\(memory)")
    }

    @Test(arguments: NewerRoot.allCases) func theVaultsOwnSite(newer: NewerRoot) async throws {
        try await publishRoot(newer)
        try await rememberNewest()
        let before = try Tree(folder["older/site"])
        let result = try await Command.run("publish", older)
        try expect(newer, result, naming: "version 4 was published from here, under root version 1")
        #expect(try (Tree(folder["older/site"]) == before) == newer.isRefused)
    }

    /// What waits in site/ to be uploaded is newer than a host that went back; but a root that lets clients forget it replaces it.
    @Test(arguments: NewerRoot.allCases) func whatWaitsToBeUploaded(newer: NewerRoot) async throws {
        try await publishRoot(newer)
        try FileManager.default.removeItem(atPath: folder["older/.published"])
        try await Tool.run("mv", folder["older/site"], host)
        try folder.write(
            "older/site/metadata/timestamp.json", folder.bytes("vault/site/metadata/timestamp.json"))
        let result = try await Command.run("publish", older, "--against", host)
        try expect(newer, result, naming: "upload \(older)/site first", warns: false)
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
