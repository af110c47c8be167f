import Foundation
import StrictJSON
import Testing

/// Teams whose packs name any number of keys, so that none is left to be looked up for the studio's.
@Suite(.timeLimit(.minutes(10))) struct TeamKeyLookupTests {
    let studio: Studio
    private var testSite: TestSite { studio.testSite }
    private var folder: TemporaryFolder { studio.folder }
    private static let teamPacks = (1...6).map { "dlc1/pack\($0)" }

    init() async throws {
        studio = try await Studio()
        // A key service that has the key of both, and notes what it was asked for.
        try folder.write(
            "key.sh",
            """
            #!/bin/sh
            echo "$1" >> '\(folder["asked"])'
            cat '\(folder["vault/keys/vault.jwks"])'

            """, permissions: 0o755)
    }

    private var service: [String] { ["--keys", "exec:\(folder["key.sh"])"] }

    /// The key IDs that the service was asked for, once for each command.
    private func asked() throws -> [String] {
        guard try folder.exists("asked") else { return [] }
        let text = try String(contentsOfFile: folder["asked"], encoding: .utf8)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    private func forgetAsked() throws { try folder.write("asked", "") }

    /// Publishes packs of the team, each with 64 slots.
    ///
    /// - Parameter keepsTheLast: whether the last slot stays the real one.
    private func publishForged(tags: [JSONValue] = [], keepsTheLast: Bool = false) async throws {
        try studio.declareTeam(
            Dictionary(
                uniqueKeysWithValues: Self.teamPacks.map {
                    ($0, ["policy": "essential", "tags": .array(tags)] as JSONObject)
                }))
        try await studio.publishTeam()
        try await studio.forgeTeam(version: 10) { signed in
            var targets = signed["targets"]?.members ?? [:]
            for id in Self.teamPacks {
                let path = "packs/\(id).avpack"
                guard var record = targets[path]?.members, var custom = record["custom"]?.members,
                    var pack = custom["assetvault"]?.members
                else { continue }
                var slots = (1...64).map { number -> JSONValue in
                    [
                        "kid": .string("\(id.suffix(5))-\(number)"), "alg": "A256KW",
                        "wrapped": .string(String(repeating: "A", count: 54)),
                    ]
                }
                if keepsTheLast, let last = pack["slots"]?.elements?.last { slots[63] = last }
                pack["slots"] = .array(slots)
                custom["assetvault"] = .object(pack)
                record["custom"] = .object(custom)
                targets[path] = .object(record)
            }
            signed["targets"] = .object(targets)
        }
        if !tags.isEmpty {
            try testSite.settings {
                $0["packs"] = ["level": ["source": .string(folder["level"]), "tags": .array(tags)]]
            }
            try studio.grant(tags)
        }
        try await testSite.publish()
    }

    private func loaded(in store: String) async throws -> [String] {
        try await testSite.status(of: store).filter { $0.value.state == "loaded" }.keys.sorted()
    }

    /// The studio's pack comes whatever the team's packs name, and each pack that waits says why.
    @Test func theStudiosKeyIsLookedUp() async throws {
        try await publishForged()
        for options in [[], ["--preload"], ["--all"]] {
            let store = folder["store\(options.joined())"]
            try forgetAsked()
            let result = try await Command.run(
                ["fetch", testSite.site, "--store", store, "--trust", testSite.root] + options + service
            ).succeeded()
            #expect(try await loaded(in: store) == ["level"], "\(options): \(result.errorText)")
            #expect(result.errorText.contains("no more than 256 keys are looked up in a run"))
            let asked = try asked()
            #expect(asked.count <= 256 && Set(asked).count == asked.count, "\(options): \(asked.count)")
        }
    }

    /// Lookups that cost nothing are not limited: the studio's pack is for another audience than the team's.
    @Test func filesAreReadWithoutALimit() async throws {
        let press = folder["vault/keys/press.jwks"]
        try await Command.run("keygen", "-o", press).succeeded()
        try testSite.settings {
            $0["audiences"] = ["press": "file:keys/press.jwks"]
            $0["packs"] = ["level": ["source": .string(folder["level"]), "for": ["press"]]]
        }
        try await publishForged(keepsTheLast: true)
        let both = ["--keys", "file:\(press)"] + testSite.keys
        // Beside a service, too.
        for keys in [both, both + service] {
            let store = folder["store\(keys.count)"]
            try await Command.run(
                ["fetch", testSite.site, "--store", store, "--trust", testSite.root] + keys
            ).succeeded()
            #expect(try await loaded(in: store) == (Self.teamPacks + ["level"]).sorted())
        }
    }

    /// Packs that wait are opened by the same rules, in all attempts together.
    @Test func whatWaitsIsUnlocked() async throws {
        try await publishForged()
        try await testSite.fetch(nil, "--all", withKeys: false).succeeded()
        let result = try await Command.run(
            ["unlock", "--store", testSite.store, "--wait", "1"] + service
        )
        #expect(result.exitCode == 77, "\(result.errorText)")
        #expect(try await loaded(in: testSite.store) == ["level"])
        #expect(result.errorText.contains("no more than 256 keys are looked up in a run"))
        let count = Set(try asked()).count
        #expect(count <= 256, "\(count)")
    }

    /// The vault's own keys are asked for at once, and those that only the team names not at all.
    @Test func authorsAskForTheirOwnKeys() async throws {
        try await publishForged(tags: ["both"])
        try forgetAsked()
        for command in ["plan", "publish"] {
            try await Command.run([command, testSite.vault] + service).succeeded()
        }
        let ids = try asked()
        #expect(!ids.contains { $0.hasPrefix("pack") }, "\(ids)")
        try forgetAsked()
        let report = try await Command.run(["audit", testSite.site, "--json"] + service).json()
        let level = report["packs"]?.elements?.first { $0["id"]?.text == "level" }
        #expect(level?["verifiedEntries"]?.number == 1, "\(String(describing: level))")
        let count = try asked().count
        #expect(count <= 256, "\(count)")
    }
}
