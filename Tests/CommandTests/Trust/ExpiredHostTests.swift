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

    /// Where no pack changes, a publication is a renewal; and what lasts for long is no answer to a doubt.
    @Test func aMereRenewalIsRefused() async throws {
        let publish = ["publish", runner.vault, "--against", runner.host]
        let late = try Clock.shifted(byDays: 31)
        for option in [[], ["--dry-run"]] {
            try await Command.run(publish + option, through: late).failed(
                76, naming: "timestamp.json", "it expired at", "without --against")
        }
        try folder.write("level/file", "version 3")
        try await Command.run(publish + ["--offline-until", "2099-01-01"], through: late).failed(
            76, naming: "timestamp.json", "it could be replayed until then")
        #expect(try !runner.written().contains { $0.hasPrefix("metadata") })
        try await Command.run(publish, through: late).succeeded()
    }

    /// Numbers of withdrawn packs that the signed targets keep are no change.
    @Test func aRenewalBesideAWithdrawnPack() async throws {
        try await testSite.publish("--pack", "other=\(folder["level"])")
        try testSite.settings { json in
            var packs = json["packs"]?.members ?? [:]
            packs["other"] = nil
            json["packs"] = .object(packs)
        }
        try await testSite.publish()
        let later = try await Runner(of: testSite, named: "later")
        try await Command.run(
            "publish", later.vault, "--against", later.host, through: Clock.shifted(byDays: 31)
        ).failed(76, naming: "timestamp.json", "it expired at")
    }

    /// The keys were replaced since, and their thief shows the root before: no new root names them.
    @Test(arguments: [0, 280], [false, true]) func aHostWithAnOlderRoot(days: Int, hasOldKeys: Bool)
        async throws
    {
        for role in ["timestamp", "snapshot"] { try await testSite.trust("rotate", role).succeeded() }
        try await testSite.publish()
        if !hasOldKeys {
            for name in try folder.names(in: "vault/keys") where name.split(separator: ".").count == 3 {
                try FileManager.default.removeItem(atPath: folder["vault/keys/\(name)"])
            }
        }
        let later = try await Runner(of: testSite, named: "later")
        let clock = try Clock.shifted(byDays: days)
        if days == 0 { try folder.write("level/file", "version 3") }
        for option in [[], ["--dry-run"]] {
            let publish = ["publish", later.vault, "--against", later.host]
            try await Command.run(publish + option, through: clock).failed(
                76, naming: "1.root.json", "no root of the host names the key in", "an older root")
        }
        try await Command.run("trust", "refresh", later.vault, "--against", later.host).failed(
            76, naming: "an older root")
        // So it is without the keys, where the newest root is pinned.
        try folder.write(
            "later/vault/trusted-root.json", folder.bytes("vault/site/metadata/3.root.json"))
        try await later.publish(later.host, through: clock).failed(76, naming: "root version 3")
        #expect(try !later.written().contains { $0.hasPrefix("metadata") })
    }

    /// A refused change of the trust has made no key, moved none, and left nothing in `pending/`.
    @Test(arguments: [["rotate", "timestamp"], ["add-key", "targets"], ["remove-key", "targets"]])
    func aRefusedChange(words: [String]) async throws {
        let key = try await testSite.makeKey("colleague").publicKey
        let id = try #require(try await testSite.roles()["targets"]?.keys.first)
        if words[0] == "remove-key" { try await testSite.trust("add-key", "targets", key).succeeded() }
        try await Tool.run("rm", "-r", folder["host"])
        try await Tool.run("cp", "-a", testSite.site, folder["host"])
        try await testSite.trust("rotate", "snapshot").succeeded()
        let later = try await Runner(of: testSite, named: "later")
        // What an earlier command left to upload stays, too.
        try folder.write("later/vault/site/metadata/1.targets.json", "superseded")
        try folder.write("later/vault/.lock", "", permissions: 0o600)
        let before = try Tree(later.vault)
        let subject = ["rotate": [], "add-key": [key], "remove-key": [String(id.prefix(16))]][words[0]] ?? []
        let command = ["trust", words[0], later.vault, words[1]] + subject + ["--against", later.host]
        try await Command.run(command).failed(76, naming: "an older root")
        #expect(try Tree(later.vault) == before)
    }

    /// The new key of a role whose key was lost is in the role's own file before any root names it.
    @Test(arguments: ["root", "timestamp"]) func aLostKey(role: String) async throws {
        let fresh = try await testSite.makeKey("fresh")
        let own = "\(runner.vault)/keys/\(role).pem"
        try await Tool.run("mv", own, folder["lost.pem"])
        try await Tool.run("cp", "-p", fresh.key, own)
        let command = ["trust", "add-key", runner.vault, role, fresh.publicKey, "--against", runner.host]
        let result = try await Command.run(command).succeeded()
        #expect(result.errorText.contains("2.root.json"), "\(result.errorText)")
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
