import Sampling
import Testing

@testable import AssetVault

/// An update of the packs of a tag, killed at each step: a program that opens the tag afterwards sees all of them as they were, or
/// all of them as they are listed.
@Suite(.timeLimit(.minutes(10))) struct KilledSetTests {
    private let world: World

    init() async throws {
        world = try await .withTags()
        try await world.fetch("--all").succeeded()
    }

    private func publish(_ release: Int) async throws {
        for level in 2...3 { try world.write("game/levels/\(level)/map", "map \(level).\(release)") }
        try world.write("game/textures/grass", "grass.\(release)")
        try await world.publish()
    }

    /// The steps at which it is killed, and whether the set is live by then.
    private static let kills: [(step: String, isLive: Bool)] = {
        let before = ["manifestSaved:2", "versionRenamed:3"] + (1...3).map { "readyRecorded:\($0)" }
        let after = (1...3).flatMap { ["versionSwitched:\($0)", "activationRecorded:\($0)"] }
        return before.map { ($0, false) } + (["switchSaved:1", "switchEnded:1"] + after).map { ($0, true) }
    }()

    /// What a program reads that gets access to both tags without any network.
    private func read(_ store: String) async throws -> String {
        let script = """
            cd "$ASSETVAULT_RESOURCES"; cat levels/2/map levels/3/map textures/grass
            """
        return try await world.access("level2", "level3", script: script, in: store, isOnline: false)
            .succeeded().text
    }

    private func content(_ release: Int?) -> String {
        let end = release.map { ".\($0)" } ?? ""
        return "map 2\(end)map 3\(end)grass\(end)"
    }

    @Test func killed() async throws {
        try await publish(2)
        for (step, isLive) in Self.kills.sample(8, for: "KilledSetTests.killed") {
            let store = world["store \(step)"]
            try await world.copy("store", to: "store \(step)")
            let result = try await world.fetch("--all", into: store, dyingAt: step)
            #expect(result.exitCode == 137, "\(step): \(result.errorText)")
            #expect(try await read(store) == content(isLive ? 2 : nil), "\(step)")
            try await world.fetch("--all", into: store).succeeded()
            #expect(try await read(store) == content(2), "\(step)")
            let states = try await world.status(of: store).values.map(\.state)
            #expect(states.allSatisfy { $0 == "loaded" }, "\(step): \(states)")
        }
    }

    /// By the links, as a program reads that knows nothing of this one: what was switched is completed by the next command.
    @Test func theLinks() async throws {
        try await publish(2)
        for number in 1...2 {
            let store = world["links \(number)"]
            try await world.copy("store", to: "links \(number)")
            #expect(
                try await world.fetch("--all", into: store, dyingAt: "versionSwitched:\(number)").exitCode
                    == 137)
            // It changes another pack, and is killed as soon as it recovers.
            _ = try await world.run("remove game/level1 --store \(store)", dyingAt: "switchEnded:1")
            let texts = try ["level2", "level3"].map { name in
                try world.text("links \(number)/permanent/game/\(name)/current/levels/\(name.suffix(1))/map")
            }
            #expect(texts == ["map 2.2", "map 3.2"])
        }
    }

    /// The same where the packs wait for their key, and are opened.
    @Test func killedWhileUnlocked() async throws {
        try await publish(2)
        try await world.fetch("--all", withKeys: false).succeeded()
        for (step, isLive) in Self.kills.sample(4, for: "KilledSetTests.killedWhileUnlocked") {
            let store = world["unlocked \(step)"]
            try await world.copy("store", to: "unlocked \(step)")
            let result = try await world.run("unlock --store \(store) $KEYS", dyingAt: step)
            #expect(result.exitCode == 137, "\(step): \(result.errorText)")
            #expect(try await read(store) == content(isLive ? 2 : nil), "\(step)")
            _ = try await world.run("unlock --store \(store) $KEYS").succeeded()
            #expect(try await read(store) == content(2), "\(step)")
        }
    }
}
