import Foundation
import StrictJSON
import Testing

/// A host whose timestamp has expired may show an old state that an attacker replays. A release continues from it with a warning;
/// a mere renewal is refused.
struct ExpiredHostTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    let runner: Runner
    private let warning = "warning: the host's timestamp expired at"

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try testSite.settings {
            $0["channels"] = ["beta", "live"]
            // As where a timestamp alone is renewed.
            $0["expiry"] = ["root": 365, "targets": 365, "snapshot": 90, "timestamp": 30]
        }
        for version in 1...2 {
            try folder.write("level/file", "version \(version)")
            try await testSite.publish("--pack", "level=\(folder["level"])")
        }
        runner = try await Runner(of: testSite)
    }

    @Test func aRefreshIsRefused() async throws {
        let refresh = ["trust", "refresh", runner.vault, "--against", runner.host]
        try await Command.run(refresh, through: Clock.shifted(byDays: 31)).failed(
            76, naming: "timestamp.json", "it expired at", "without --against")
        #expect(try runner.written() == [] && !folder.exists("runner/vault/.published"))
        try await Command.run(refresh, through: Clock.shifted(byDays: 29)).succeeded()
        #expect(try runner.written() == ["metadata/timestamp.json"])
        // The vault that has the site knows what is newest.
        try await testSite.trust("refresh", through: Clock.shifted(byDays: 31)).succeeded()
    }

    @Test(arguments: [
        ["publish"], ["publish", "--dry-run"], ["restore", "level", "--version", "1"],
        ["promote", "--all", "--from", "beta", "--to", "live"], ["trust rotate", "targets"],
    ]) func whatIsSignedWarns(words: [String]) async throws {
        try folder.write("level/file", "version 3")
        let command =
            words[0].split(separator: " ").map(String.init) + [runner.vault] + words.dropFirst()
            + ["--against", runner.host]
        let late = try await Command.run(command, through: Clock.shifted(byDays: 31)).succeeded()
        #expect(late.errorText.contains(warning), "\(late.errorText)")
        try await Tool.run("rm", "-rf", runner.site, "\(runner.vault)/.published")
        if words[0] == "publish" {
            let early = try await Command.run(command, through: Clock.shifted(byDays: 29)).succeeded()
            #expect(!early.errorText.contains("expired"), "\(early.errorText)")
        }
    }
}
