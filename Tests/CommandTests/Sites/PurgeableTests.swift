import Sampling
import Testing

/// Packs marked purgeable are removed when space is needed, and only these.
@Suite(.enabled(if: MountedAreas.areAllowed, "this user may not mount anything"))
struct PurgeableTests {
    let world: World

    private static let noise = ["kept": 0, "old": 1, "wanted": 2].mapValues {
        Bytes.random(12 << 20, seed: $0)
    }

    init() async throws {
        world = try await World("kept", "old", "wanted") { world in
            for (id, noise) in Self.noise { try world.write("\(id)/noise", noise) }
        }
        try await world.fetch("kept old").succeeded()
    }

    /// Fetches packs onto a disk that has too little room for them, and gives what `status` says then.
    private func fetchWanted(
        _ ids: Words = "wanted", withRoomFor kibibytes: Int = 20 << 10,
        after prepare: (MountedAreas) async throws -> Void = { _ in },
        then look: (MountedAreas, CommandResult, String) async throws -> Void
    ) async throws {
        try await MountedAreas.mount(["permanent"], of: world.store) { mounted in
            try await prepare(mounted)
            try await mounted.leave(kibibytes: kibibytes, in: "permanent")
            let result = try await world.fetch(ids, through: mounted.inside)
            try await look(mounted, result, try await states(mounted))
        }
    }

    private func states(_ mounted: MountedAreas) async throws -> String {
        try await world.run("status $STORE", through: mounted.inside).succeeded().text
    }

    /// The options of `preserve` for one pack, what is wanted then of a disk with room for so many MiB, and what the store has
    /// afterwards: the fetch fails.
    @Test(
        arguments: [
            ([], "wanted", 20, ["loaded  kept", "loaded  old"]),
            // It would not be enough.
            (["--purgeable"], "wanted", 8, ["loaded  old"]),
            // It is asked for.
            (["--purgeable"], "wanted old", 20, ["loaded  old"]),
            (["--purgeable", "--keep"], "wanted", 20, ["loaded  old  version 1 opened\n"]),
        ] as [([String], String, Int, [String])])
    func packsAreKept(options: [String], wanted: String, mebibytes: Int, states: [String]) async throws {
        for option in options { try await world.run("preserve \(option) old $STORE").succeeded() }
        let ids = wanted.split(separator: " ").map(String.init)
        try await fetchWanted("\(ids)", withRoomFor: mebibytes << 10) { _, result, found in
            #expect(result.exitCode == 71, "\(result.errorText)")
            for state in states { #expect(found.contains(state), "\(found)") }
            guard options.isEmpty else { return }
            for part in ["disk is full", "16 MiB to stay free", "remove packs, or declare some purgeable"] {
                #expect(result.errorText.contains(part), "\(result.errorText)")
            }
        }
    }

    @Test func aPurgeablePackIsRemoved() async throws {
        try await world.run("preserve --purgeable old $STORE").succeeded()
        #expect(try await world.status()["old"]?.state == "loaded")
        try await fetchWanted { mounted, result, states in
            #expect(try result.succeeded().errorText.contains("removed  old"))
            for state in ["absent  old", "loaded  kept", "loaded  wanted"] {
                #expect(states.contains(state), "\(states)")
            }
            #expect(!states.contains("purgeable"), "\(states)")
            try await mounted.shell("! ls -A '\(world.store)/permanent/old' | grep .")
            // It stays away until it is asked for, and is kept then.
            try await mounted.leave(kibibytes: 60 << 10, in: "permanent")
            try await world.fetch(through: mounted.inside).succeeded()
            #expect(try await self.states(mounted).contains("absent  old"))
            try await world.fetch("old", through: mounted.inside).succeeded()
            let answer = try await self.states(mounted)
            #expect(answer.contains("loaded  old  version 1 opened\n"), "\(answer)")
        }
    }

    /// Not even new metadata fit: what is purgeable goes before the site can be read. Where no pack can be purged the old state stays.
    @Test(arguments: [true, false]) func metadataThatDoNotFit(isPurgeable: Bool) async throws {
        if isPurgeable { try await world.run("preserve --purgeable old $STORE").succeeded() }
        try world.write("kept/small", "new")
        try await world.publish()
        try await MountedAreas.mount(["permanent"], of: world.store) { mounted in
            try await mounted.leave(kibibytes: 0, in: "permanent")
            let full = try await world.fetch("kept", through: mounted.inside)
            let states = try await states(mounted)
            guard isPurgeable else {
                #expect(full.exitCode == 71, "\(full.errorText)")
                return #expect(states.contains("loaded  old") && states.contains("loaded  kept"), "\(states)")
            }
            #expect(full.errorText.contains("removed  old"), "\(full.errorText)")
            #expect(states.contains("absent  old"), "\(states)")
            let seen = try await mounted.shell("cat '\(world.store)/permanent/@trust/timestamp.json'")
            #expect(try world.text("vault/site/metadata/timestamp.json") == seen, "\(full.errorText)")
        }
    }

    @Test func onlyAsManyAsNeededAreRemoved() async throws {
        for id in ["kept", "old"] { try await world.run("preserve --purgeable \(id) $STORE").succeeded() }
        try await fetchWanted { _, result, states in
            try result.succeeded()
            #expect(states.contains("absent  kept"), "\(states)")
            #expect(states.contains("loaded  old  version 1 opened, purgeable"), "\(states)")
        }
    }

    /// There is no space even for the record of the removal.
    @Test func onAFullDiskPacksAreRemoved() async throws {
        let store = world["full"]
        try await world.fetch("kept old", into: store, withKeys: false).succeeded()
        try await MountedAreas.mount(["shared"], of: store) { mounted in
            try await mounted.leave(kibibytes: 0, in: "shared")
            let full = try await world.run(
                "fetch $SITE --store \(store) wanted", through: mounted.inside)
            #expect(full.exitCode == 71)
            try await world.run("remove old --store \(store)", through: mounted.inside).succeeded()
            let status = try await world.run("status --store \(store)", through: mounted.inside)
            #expect(status.text.contains("absent  old") && status.text.contains("waiting  kept"))
        }
    }

    /// A reader holds the lock of the version.
    @Test func aHeldVersionIsKept() async throws {
        try await world.run("preserve --purgeable old $STORE").succeeded()
        try await fetchWanted {
            try await $0.shell(
                """
                cd '\(world.store)/permanent/old/current/' &&
                flock --shared . sh -c ': >"$0"; exec sleep 600' '\(world["held"])' </dev/null >/dev/null 2>&1 &
                """)
            try await wait(for: "the lock") { try world.exists("held") }
        } then: { mounted, result, states in
            #expect(result.exitCode == 71, "\(result.errorText)")
            #expect(states.contains("loaded  old  version 1 opened, purgeable"), "\(states)")
            try await mounted.shell("cat '\(world.store)/permanent/old/current/noise' >/dev/null")
        }
    }

    @Test(arguments: ["--purgeable", "--keep"]) func killedAtEachStep(option: String) async throws {
        let numbers = Sampling.numbers(1...20, each: 3, for: "PurgeableTests.killed \(option)")
        let kills = try await Killing.atEach("fsync", numbers, isAlwaysCalled: false) { _, wrapper in
            let result = try await world.run("preserve \(option) old $STORE", through: wrapper)
            try await world.fetch("kept").succeeded()
            let names = try await Tool.run("find", world.store).text
            #expect(!names.contains(".tmp"), "\(names)")
            return result
        }
        #expect(kills < numbers.count, "it never ended")
    }

    @Test func missingPacksAreRefused() async throws {
        for option in ["--purgeable", "--keep"] {
            let result = try await world.run("preserve \(option) wanted $STORE")
            #expect(result.exitCode == 66 && result.errorText.contains("wanted: the store never had it"))
        }
    }
}
