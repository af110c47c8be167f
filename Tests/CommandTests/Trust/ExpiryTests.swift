import Foundation
import StrictJSON
import Testing

/// How long a site is trusted, who warns of its expiry, and what works afterwards.
struct ExpiryTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
    }

    private func later(_ days: Int) throws -> [String] { try Clock.shifted(byDays: days) }

    @Test func thePeriodsAreInTheSettings() async throws {
        let expiry = try folder.json("vault/vault.json")["expiry"] as JSONValue?
        #expect(expiry == ["root": 365, "targets": 365, "snapshot": 30, "timestamp": 30])
        let roles = try await testSite.roles()
        for (name, days) in [("root", 364), ("targets", 364), ("snapshot", 29), ("timestamp", 29)] {
            #expect([Int64(days), Int64(days) + 1].contains(roles[name]?.daysLeft ?? 0), "\(name)")
            #expect(roles[name]?.isDue == false)
        }
    }

    /// With under a quarter of a period left all commands warn; publishing renews the metadata.
    @Test func warnings() async throws {
        let early = try await testSite.trust("show", through: later(22)).succeeded()
        #expect(!early.errorText.contains("warning"))
        let late = try await testSite.trust("show", through: later(23)).succeeded()
        for role in ["timestamp version 1 expires", "snapshot version 1 expires"] {
            #expect(late.errorText.contains("warning: \(role)"), "\(late.errorText)")
        }
        let audit = try await Command.run(
            "audit", testSite.site, "--trust", testSite.root, through: later(23)
        ).succeeded()
        #expect(audit.text.contains("timestamp.json: version 1 expires at"), "\(audit.text)")
        let renewal = try await testSite.publish(through: later(23))
        #expect(!renewal.errorText.contains("warning"))
        #expect(try await !testSite.trust("show", through: later(23)).errorText.contains("warning"))
    }

    /// A publication that can't renew the targets says when they expire.
    @Test func theKeyOfTheTargetsIsElsewhere() async throws {
        let key = try testSite.takeAway("targets.pem")
        let early = try await testSite.publish(through: later(270))
        #expect(!early.errorText.contains("targets version"))
        let late = try await testSite.publish("--json", through: later(275))
        #expect(late.errorText.contains("targets version 1 expires") && late.errorText.contains("pending"))
        #expect(try testSite.pending() == ["2.targets.json"])
        try await testSite.fetch(through: later(276)).succeeded()
        try await Command.run(
            "trust", "sign", folder["vault/pending/2.targets.json"], "--key", key
        ).succeeded()
        try await testSite.publish(through: later(277))
        #expect(try testSite.pending() == [])
        #expect(try await testSite.roles()["targets"]?.version == 2)
    }

    /// Staged packs are used without metadata.
    @Test func stagedPacksAreUsedAfterExpiry() async throws {
        try await testSite.fetch(nil, "--sealed").succeeded()
        let pack = try await testSite.path(of: "level")
        try await testSite.fetch(nil, "--sealed", through: later(31)).failed(76, naming: "expired")
        func works(_ words: [String], _ part: String? = nil) async throws {
            let result = try await Command.run(words, through: later(500)).succeeded()
            if let part { #expect(result.text.contains(part), "\(words)") }
        }
        try await works(["path", "level", "--store", testSite.store], "level")
        try await works(["status", "--store", testSite.store], "level")
        try await works(["cat", pack, "file"] + testSite.keys, "version 1")
        try await works(["open", pack, "-o", folder["opened"]] + testSite.keys)
        #expect(try Tree(folder["opened"]) == Tree(folder["level"]))
    }

    /// A server with only the timestamp's key keeps the site valid until the other roles expire.
    @Test func theTimestampsKeyAlone() async throws {
        try testSite.settings { $0["expiry"] = ["snapshot": 200] }
        try folder.write("level/file", "version 2")
        try await testSite.publish()
        for name in try folder.names(in: "vault/keys") where name.hasSuffix(".pem") && name != "timestamp.pem"
        {
            try testSite.takeAway(name)
        }
        try testSite.takeAway("vault.jwks")
        let keys = ["--keys", "file:\(folder["safe/vault.jwks"])"]
        func fetch(after days: Int) async throws -> CommandResult {
            try await Command.run(
                ["fetch", testSite.site, "--store", testSite.store, "--trust", testSite.root] + keys,
                through: later(days))
        }
        try await fetch(after: 31).failed(76, naming: "timestamp")
        let before = try testSite.metadata()
        for days in [25, 50, 75] {
            try await testSite.trust("refresh", through: later(days)).succeeded()
            try await fetch(after: days + 29).succeeded()
        }
        try await fetch(after: 106).failed(76, naming: "timestamp")
        #expect(try testSite.metadata() == before, "no other file is new")
        #expect(try await testSite.roles()["timestamp"]?.version == 5)
        // It can't renew the other roles, and warns in time.
        let warning = try await testSite.trust("refresh", through: later(160)).succeeded()
        #expect(warning.errorText.contains("warning: snapshot"))
        try await testSite.trust("refresh", through: later(201)).failed(76, naming: "snapshot")
    }
}
