import FaultServer
import Foundation
import StrictJSON
import Testing

/// What a runner without the site reads of all earlier publications. The host has pruned metadata between.
struct HostedHistoryTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    private let (first, second): ([String], [String])

    /// `other` is withdrawn, and the first key retired, in version 3 of the targets; version 4 is gone.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try folder.write("other/file", "of version 1")
        try await Command.run("keygen", "-o", folder["second.jwks"]).succeeded()
        (first, second) = (testSite.keys, ["--keys", "file:\(folder["second.jwks"])"])
        try await testSite.publish("--pack", "level=\(folder["level"])", "--pack", "other=\(folder["other"])")
        try await publish(first + second)
        try declareOther(false)
        try await publish(second)
        for version in 2...3 {
            try folder.write("level/file", "version \(version)")
            try await publish(second)
        }
        try FileManager.default.removeItem(atPath: "\(testSite.site)/metadata/4.targets.json")
    }

    private func publish(_ options: [String]) async throws {
        try await Command.run(["publish", testSite.vault] + options).succeeded()
    }

    private func declareOther(_ isDeclared: Bool) throws {
        try testSite.settings { settings in
            var packs = settings["packs"]?.members ?? [:]
            packs["other"] = isDeclared ? ["source": "../other"] : nil
            settings["packs"] = .object(packs)
        }
    }

    /// Clients may have version 1: its number is never given to other bytes.
    @Test func aWithdrawnPackThatIsDeclaredAgain() async throws {
        try folder.write("other/file", "declared again")
        try declareOther(true)
        let runner = try await Runner(of: testSite)
        let server = try FaultServer(runner.host)
        let command = ["publish", runner.vault, "--against", server.url] + second
        let result = try await Command.run(command).succeeded()
        #expect(result.text.contains("other  version 2"), "\(result.text)")
        let earlier = server.requests.filter { $0.contains("/2.targets") || $0.contains("/3.targets") }
        #expect(earlier.isEmpty, "\(earlier)")
    }

    /// A warning that can't be made certain stops nothing, and numbers are known without.
    @Test func moreThanCanBeRead() async throws {
        try await testSite.raise(["targets", "snapshot", "timestamp"], to: 20_000)
        let runner = try await Runner(of: testSite)
        let command = ["publish", runner.vault, "--against", runner.host] + first + second
        let keys = try await Command.run(command + ["--dry-run"]).succeeded()
        #expect(keys.errorText.contains("warning: keys open packs"), "\(keys.errorText)")
        try declareOther(true)
        try await Tool.run("cp", folder["vault/vault.json"], "\(runner.vault)/vault.json")
        let result = try await Command.run(command).succeeded()
        #expect(result.text.contains("other  version 2"), "\(result.text)")
    }
}
