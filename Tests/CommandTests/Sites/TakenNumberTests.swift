import Foundation
import StrictJSON
import Testing

/// Files at a host under the numbers that come next, which are not the vault's: they take a number, and stop nothing.
struct TakenNumberTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try folder.write("level/file", "version 2")
    }

    private func publishesAndUploads(_ runner: Runner) async throws -> CommandResult {
        let result = try await runner.publish(runner.host).succeeded()
        try await Command.run("upload", runner.site, runner.host).succeeded()
        try await testSite.fetch(runner.host).succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
        return result
    }

    @Test(arguments: ["truncated", "empty", "zeros", "unsigned"]) func aForeignFile(kind: String) async throws
    {
        let runner = try await Runner(of: testSite)
        let bytes = try folder.bytes("host/metadata/1.targets.json")
        let foreign: [UInt8] =
            switch kind {
            case "truncated": Array(bytes.prefix(bytes.count / 2))
            case "empty": []
            case "zeros": Array(repeating: 0, count: bytes.count)
            default:
                Array(
                    String(decoding: bytes, as: UTF8.self)
                        .replacing(#""version":1"#, with: #""version":2"#)
                        .replacing(#""version": 1"#, with: #""version": 2"#).utf8)
            }
        try folder.write("host/metadata/2.targets.json", foreign)
        let result = try await publishesAndUploads(runner)
        #expect(result.errorText.contains("2.targets.json"), "\(result.errorText)")
        #expect(result.errorText.contains("higher numbers are used"), "\(result.errorText)")
        #expect(try folder.bytes("host/metadata/2.targets.json") == foreign)
        #expect(try runner.written().contains("metadata/3.targets.json"))
    }

    /// Of roles that an interrupted upload was to bring: no snapshot at the host names them.
    @Test(arguments: ["channels", "bins"]) func anInterruptedUpload(bringing member: String) async throws {
        let isChannel = member == "channels"
        try testSite.settings { $0[member] = isChannel ? ["beta", "live"] : 2 }
        let first = try await Runner(of: testSite, named: "first")
        try await first.publish(first.host).succeeded()
        let timestamp = try folder.bytes("host/metadata/timestamp.json")
        try await first.upload()
        try folder.write("host/metadata/timestamp.json", timestamp)
        try folder.write("level/file", "version 3")
        let second = try await Runner(of: testSite, named: "second")
        try await second.publish(second.host).succeeded()
        try await Command.run("upload", second.site, second.host).succeeded()
        try await Command.run("audit", second.host, "--trust", testSite.root).succeeded()
        try await testSite.fetch(second.host, "--channel", isChannel ? "beta" : "live").succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }

    /// As many as a thief of a key likes that was replaced.
    @Test func manyOfARemovedKey() async throws {
        let snapshot: JSONValue = try folder.json("vault/site/metadata/1.snapshot.json")
        let old = folder["old-snapshot.pem"]
        try await Tool.run("cp", "-a", folder["vault/keys/snapshot.pem"], old)
        try await testSite.trust("rotate", "snapshot").succeeded()
        try await testSite.publish()
        let runner = try await Runner(of: testSite)
        let newest = try await testSite.roles()["snapshot"]?.version ?? 0
        for version in (newest + 1)...(newest + 70) {
            var signed = try #require(snapshot["signed"]?.members)
            signed["version"] = .integer(version)
            let name = "\(version).snapshot.json"
            try await testSite.sign(signed, as: name, with: old)
            try await Tool.run(
                "mv", folder["vault/site/metadata/\(name)"], folder["host/metadata/\(name)"])
        }
        try folder.write("level/file", "version 3")
        _ = try await publishesAndUploads(runner)
        #expect(try runner.written().contains("metadata/\(newest + 71).snapshot.json"))
    }
}
