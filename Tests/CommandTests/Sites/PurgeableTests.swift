import Foundation
import Sampling
import Testing

/// Packs marked purgeable are removed when space is needed, and only these.
@Suite(.enabled(if: MountedAreas.areAllowed, "this user may not mount anything"))
struct PurgeableTests {
    let testSite: TestSite
    private static let noise = ["kept": 0, "old": 1, "wanted": 2].mapValues {
        Bytes.random(12 << 20, seed: $0)
    }

    init() async throws {
        testSite = try await TestSite()
        let folder = testSite.folder
        for (id, noise) in Self.noise { try folder.write("\(id)/noise", noise) }
        try await testSite.publish(
            "--pack", "kept=\(folder["kept"])", "--pack", "old=\(folder["old"])",
            "--pack", "wanted=\(folder["wanted"])")
        try await testSite.fetch(nil, "kept", "old").succeeded()
    }

    /// Fetches a pack onto a disk that has too little room for it.
    private func fetchWanted(
        _ more: String..., withRoomFor kibibytes: Int = 20 << 10,
        after prepare: (MountedAreas) async throws -> Void = { _ in },
        then look: (MountedAreas, CommandResult) async throws -> Void
    ) async throws {
        try await MountedAreas.mount(["permanent"], of: testSite.store) { mounted in
            try await prepare(mounted)
            try await mounted.leave(kibibytes: kibibytes, in: "permanent")
            let arguments = ["fetch", testSite.site, "--store", testSite.store, "wanted"] + more
            try await look(
                mounted, try await Command.run(arguments + testSite.keys, through: mounted.inside))
        }
    }

    private func states(_ mounted: MountedAreas) async throws -> String {
        try await Command.run("status", "--store", testSite.store, through: mounted.inside).succeeded().text
    }

    private func run(_ command: String, _ id: String) async throws -> CommandResult {
        try await Command.run(command, id, "--store", testSite.store)
    }

    @Test func unmarkedPacksAreKept() async throws {
        try await fetchWanted { mounted, result in
            #expect(result.exitCode == 71 && result.errorText.contains("disk is full"), "\(result.errorText)")
            #expect(result.errorText.contains("16 MiB to stay free"), "\(result.errorText)")
            #expect(result.errorText.contains("remove packs, or declare some purgeable"))
            let states = try await states(mounted)
            #expect(states.contains("loaded  kept") && states.contains("loaded  old"), "\(states)")
        }
    }

    @Test func aPurgeablePackIsRemoved() async throws {
        try await run("purgeable", "old").succeeded()
        #expect(try await testSite.status()["old"]?.state == "loaded")
        try await fetchWanted { mounted, result in
            #expect(try result.succeeded().errorText.contains("removed  old"))
            let states = try await states(mounted)
            #expect(states.contains("absent  old") && states.contains("loaded  kept"), "\(states)")
            #expect(states.contains("loaded  wanted"), "\(states)")
            #expect(!states.contains("purgeable"), "\(states)")
            try await mounted.shell("! ls -A '\(testSite.store)/permanent/old' | grep .")
            // It stays away until it is asked for, and is kept then.
            try await mounted.leave(kibibytes: 60 << 10, in: "permanent")
            try await testSite.fetch(through: mounted.inside).succeeded()
            #expect(try await self.states(mounted).contains("absent  old"))
            try await testSite.fetch(nil, "old", through: mounted.inside).succeeded()
            let answer = try await self.states(mounted)
            #expect(answer.contains("loaded  old  version 1 opened\n"), "\(answer)")
        }
    }

    /// Not even new metadata fit: what is purgeable goes before the site can be read.
    @Test func metadataThatDoNotFit() async throws {
        try await run("purgeable", "old").succeeded()
        try testSite.folder.write("kept/small", "new")
        try await testSite.publish()
        try await MountedAreas.mount(["permanent"], of: testSite.store) { mounted in
            try await mounted.leave(kibibytes: 0, in: "permanent")
            let full = try await testSite.fetch(nil, "kept", through: mounted.inside)
            #expect(full.errorText.contains("removed  old"), "\(full.errorText)")
            let states = try await states(mounted)
            #expect(states.contains("absent  old"), "\(states)")
            let timestamp = "store/permanent/@trust/timestamp.json"
            let seen = try await mounted.shell("cat '\(testSite.folder[timestamp])'")
            #expect(
                Array(seen.utf8) == (try testSite.folder.bytes("vault/site/metadata/timestamp.json")),
                "\(full.errorText)")
        }
    }

    /// Where no pack can be purged the old state stays.
    @Test func metadataThatDoNotFitAndNothingToPurge() async throws {
        try testSite.folder.write("kept/small", "new")
        try await testSite.publish()
        try await MountedAreas.mount(["permanent"], of: testSite.store) { mounted in
            try await mounted.leave(kibibytes: 0, in: "permanent")
            let full = try await testSite.fetch(nil, "kept", through: mounted.inside)
            #expect(full.exitCode == 71, "\(full.errorText)")
            let states = try await states(mounted)
            #expect(states.contains("loaded  old") && states.contains("loaded  kept"), "\(states)")
        }
    }

    @Test func onlyAsManyAsNeededAreRemoved() async throws {
        for id in ["kept", "old"] { try await run("purgeable", id).succeeded() }
        try await fetchWanted { mounted, result in
            try result.succeeded()
            let states = try await states(mounted)
            #expect(states.contains("absent  kept"), "\(states)")
            #expect(states.contains("loaded  old  version 1 opened, purgeable"), "\(states)")
        }
    }

    /// There is no space even for the record of the removal.
    @Test func onAFullDiskPacksAreRemoved() async throws {
        let store = testSite.folder["full"]
        try await testSite.fetch(nil, "kept", "old", into: store, withKeys: false).succeeded()
        try await MountedAreas.mount(["shared"], of: store) { mounted in
            try await mounted.leave(kibibytes: 0, in: "shared")
            let purge = ["fetch", testSite.site, "--store", store, "wanted"]
            #expect(try await Command.run(purge, through: mounted.inside).exitCode == 71)
            try await Command.run("remove", "old", "--store", store, through: mounted.inside).succeeded()
            let status = try await Command.run("status", "--store", store, through: mounted.inside)
            #expect(status.text.contains("absent  old") && status.text.contains("waiting  kept"))
        }
    }

    @Test func nothingIsRemovedIfItIsNotEnough() async throws {
        try await run("purgeable", "old").succeeded()
        try await fetchWanted(withRoomFor: 8 << 10) { mounted, result in
            #expect(result.exitCode == 71, "\(result.errorText)")
            let states = try await states(mounted)
            #expect(states.contains("loaded  old"), "\(states)")
        }
    }

    @Test func aRequestedPackIsKept() async throws {
        try await run("purgeable", "old").succeeded()
        try await fetchWanted("old") { mounted, result in
            #expect(result.exitCode == 71, "\(result.errorText)")
            let states = try await states(mounted)
            #expect(states.contains("loaded  old"), "\(states)")
        }
    }

    @Test func theMarkIsWithdrawn() async throws {
        try await run("purgeable", "old").succeeded()
        try await run("keep", "old").succeeded()
        try await fetchWanted { mounted, result in
            #expect(result.exitCode == 71, "\(result.errorText)")
            let states = try await states(mounted)
            #expect(states.contains("loaded  old  version 1 opened\n"), "\(states)")
        }
    }

    /// A reader holds the lock of the version.
    @Test func aHeldVersionIsKept() async throws {
        try await run("purgeable", "old").succeeded()
        try await fetchWanted {
            try await $0.shell(
                """
                cd '\(testSite.store)/permanent/old/current/' &&
                flock --shared . sleep 60 </dev/null >/dev/null 2>&1 & sleep 0.3
                """)
        } then: { mounted, result in
            #expect(result.exitCode == 71, "\(result.errorText)")
            let states = try await states(mounted)
            #expect(states.contains("loaded  old  version 1 opened, purgeable"), "\(states)")
            try await mounted.shell("cat '\(testSite.store)/permanent/old/current/noise' >/dev/null")
        }
    }

    @Test(arguments: ["purgeable", "keep"]) func killedAtEachStep(command: String) async throws {
        for number in Sampling.numbers(1...20, each: 3, for: "PurgeableTests.killed \(command)") {
            let wrapper =
                ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync"]
                + ["-e", "inject=fsync:signal=KILL:when=\(number)"]
            let result = try await Command.run(
                command, "old", "--store", testSite.store, through: wrapper)
            try await testSite.fetch(nil, "kept").succeeded()
            let names = try await Tool.run("find", testSite.store).text
            #expect(!names.contains(".tmp"), "\(names)")
            if result.exitCode == 0 { return }
        }
        Issue.record("it never ended")
    }

    @Test func missingPacksAreRefused() async throws {
        for command in ["purgeable", "keep"] {
            let result = try await run(command, "wanted")
            #expect(result.exitCode == 66 && result.errorText.contains("wanted: the store never had it"))
        }
    }
}
