import Testing
import VaultBase

/// Teams whose packs name any number of keys, so that none is left to be looked up for the studio's.
@Suite(.timeLimit(.minutes(10))) struct TeamKeyLookupTests {
    let world: World
    private static let teamPacks = (1...6).map { "dlc1/pack\($0)" }

    init() async throws {
        world = try await .withTeam()
        // A key service that has the key of both, and notes what it was asked for.
        try world.write(
            "key.sh",
            """
            #!/bin/sh
            echo "$1" >> '\(world["asked"])'
            cat '\(world["vault/keys/vault.jwks"])'

            """, permissions: 0o755)
    }

    private var service: [String] { ["--keys", "exec:\(world["key.sh"])"] }

    /// The key IDs that the service was asked for, once for each command.
    private func asked() throws -> [String] {
        guard try world.exists("asked") else { return [] }
        let text = try world.text("asked")
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    private func forgetAsked() throws { try world.write("asked", "") }

    /// Publishes packs of the team, each with 64 slots.
    ///
    /// - Parameter keepsTheLast: whether the last slot stays the real one.
    private func publishForged(tags: [JSONValue] = [], keepsTheLast: Bool = false) async throws {
        let pack: JSONObject = ["policy": "essential", "tags": .array(tags)]
        try world.declareTeam(Dictionary(uniqueKeysWithValues: Self.teamPacks.map { ($0, pack) }))
        try await world.publishTeam()
        try await world.forgeTeam(version: 10) { signed in
            for id in Self.teamPacks {
                try signed.changePack(id) { pack in
                    var slots = (1...64).map { number -> JSONValue in
                        [
                            "kid": .string("\(id.suffix(5))-\(number)"), "alg": "A256KW",
                            "wrapped": .string(String(repeating: "A", count: 54)),
                        ]
                    }
                    if keepsTheLast, let last = pack["slots"]?.elements?.last { slots[63] = last }
                    pack["slots"] = .array(slots)
                }
            }
        }
        if !tags.isEmpty {
            try world.tagLevel(tags)
            try world.grant(tags)
        }
        try await world.publish()
    }

    /// The studio's pack comes whatever the team's packs name, and each pack that waits says why.
    @Test func theStudiosKeyIsLookedUp() async throws {
        try await publishForged()
        for options in [[], ["--preload"], ["--all"]] {
            let store = world["store\(options.joined())"]
            try forgetAsked()
            let result = try await world.run("fetch $SITE --store \(store) $TRUST \(options) \(service)")
                .succeeded()
            #expect(try await world.loaded(in: store) == ["level"], "\(options): \(result.errorText)")
            #expect(result.errorText.contains("no more than 256 keys are looked up in a run"))
            let asked = try asked()
            #expect(asked.count <= 256 && Set(asked).count == asked.count, "\(options): \(asked.count)")
        }
    }

    /// Lookups that cost nothing are not limited: the studio's pack is for another audience than the team's.
    @Test func filesAreReadWithoutALimit() async throws {
        try await world.run("keygen -o $VAULT/keys/press.jwks").succeeded()
        try world.declare(["level": ["for": ["press"]]]) {
            $0["audiences"] = ["press": "file:keys/press.jwks"]
        }
        try await publishForged(keepsTheLast: true)
        let both = ["--keys", "file:\(world["vault/keys/press.jwks"])"] + world.keys
        // Beside a service, too.
        for keys in [both, both + service] {
            let store = world["store\(keys.count)"]
            try await world.run("fetch $SITE --store \(store) $TRUST \(keys)").succeeded()
            #expect(try await world.loaded(in: store) == (Self.teamPacks + ["level"]).sorted())
        }
    }

    /// Packs that wait are opened by the same rules, in all attempts together.
    @Test func whatWaitsIsUnlocked() async throws {
        try await publishForged()
        try await world.fetch("--all", withKeys: false).succeeded()
        let result = try await world.run("unlock $STORE --wait 1 \(service)")
        #expect(result.exitCode == 77, "\(result.errorText)")
        #expect(try await world.loaded() == ["level"])
        #expect(result.errorText.contains("no more than 256 keys are looked up in a run"))
        let count = Set(try asked()).count
        #expect(count <= 256, "\(count)")
    }

    /// The vault's own keys are asked for at once, and those that only the team names not at all.
    @Test func authorsAskForTheirOwnKeys() async throws {
        try await publishForged(tags: ["both"])
        try forgetAsked()
        for command in ["plan", "publish"] {
            try await world.run("\(command) $VAULT \(service)").succeeded()
        }
        let ids = try asked()
        #expect(!ids.contains { $0.hasPrefix("pack") }, "\(ids)")
        try forgetAsked()
        let report = try await world.run("audit $SITE --json \(service)").json()
        let level = report["packs"]?.elements?.first { $0["id"]?.text == "level" }
        #expect(level?["verifiedEntries"]?.number == 1, "\(String(describing: level))")
        let count = try asked().count
        #expect(count <= 256, "\(count)")
    }
}
