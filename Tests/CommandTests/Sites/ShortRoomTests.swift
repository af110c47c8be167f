import FaultServer
import Foundation
import Testing
import VaultBase

/// A pack that waits is opened on a disk that has no room for both of its forms.
@Suite(.timeLimit(.minutes(10)), .enabled(if: MountedAreas.areAllowed, "this user may not mount anything"))
struct ShortRoomTests {
    private let world: World
    private let server: FaultServer

    /// Version 1, which is small, is live; version 2, of 40 MB, waits.
    init() async throws {
        world = try await World()
        server = try FaultServer(world.site)
        try world.settings { $0["packs"] = ["level": ["source": .string(world["level"])]] }
        try world.write("level/map", "version 1")
        try world.write("level/a/run", "#!/bin/sh", permissions: 0o755)
        try await world.publish()
        try await world.run("fetch \(server.url) --store $WORK/disk/room/store $TRUST $KEYS").succeeded()
        try world.write("level/map", "version 2")
        try world.write("level/large", Bytes.random(40_000_000, seed: 1))
        try world.write("level/z/last", "in a folder of its own")
        try await world.publish()
        try await fetch("").succeeded()
    }

    private var store: String { world["disk/room/store"] }

    private func fetch(
        _ words: Words = "$KEYS", _ disk: MountedAreas? = nil, dyingAt step: String = "none"
    ) async throws -> CommandResult {
        try await world.run(
            "fetch \(server.url) --store \(store) $TRUST \(words)", through: disk?.inside ?? [],
            dyingAt: step)
    }

    private func unlock(_ disk: MountedAreas, dyingAt step: String = "none") async throws -> CommandResult {
        try await world.run("unlock --store \(store) $KEYS", through: disk.inside, dyingAt: step)
    }

    /// Runs `body` with the store on a disk with this much free space. 16 MiB stay free; the opened pack takes 38, and 13 are needed if the
    /// waiting one is freed.
    private func withRoom(mebibytes: Int, _ body: (MountedAreas) async throws -> Void) async throws {
        try await MountedAreas.mount(["room"], of: world["disk"]) { disk in
            try await disk.leave(kibibytes: mebibytes << 10, in: "room")
            try await body(disk)
        }
    }

    private func expectLive(
        _ version: Int, _ disk: MountedAreas, _ hint: String = "",
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let current = "\(store)/permanent/level/current"
        if version == 2 {
            try await disk.shell(
                "diff -r '\(world["level"])' \(current) && test -x \(current)/a/run", at: location)
            try await disk.shell(
                "! ls -A '\(store)/shared/packs/level' '\(store)/ephemeral' | grep avpack", at: location)
            try await disk.shell("! ls -A '\(store)/permanent/level' | grep arriving", at: location)
        } else {
            let map = try await disk.shell("cat '\(current)/map'", at: location)
            #expect(map == "version 1", "\(hint)", sourceLocation: location)
        }
    }

    /// Where there is room for one form of the pack, it is opened after `body`, and nothing is downloaded again.
    private func expectOpened(after body: (MountedAreas) async throws -> Void = { _ in }) async throws {
        try await withRoom(mebibytes: 32) { disk in
            let asked = server.packs.count
            try await body(disk)
            try await unlock(disk).succeeded()
            try await expectLive(2, disk)
            #expect(server.packs.count == asked)
        }
    }

    @Test func theWaitingPackIsFreed() async throws { try await expectOpened() }

    @Test func nothingIsFreedWhereThereIsRoom() async throws {
        try await withRoom(mebibytes: 58) { disk in
            try await unlock(disk, dyingAt: "piecesFreed").succeeded()
            try await expectLive(2, disk)
        }
    }

    /// There is not even room for the opened pack.
    @Test func nothingChangesWhereThatIsNotEnough() async throws {
        try await withRoom(mebibytes: 24) { disk in
            let list =
                "cd '\(store)' && find . -type f ! -path '*/@state/*' -exec sha256sum {} + | sort; find . | sort"
            let before = try await disk.shell(list)
            let result = try await unlock(disk)
            #expect(result.exitCode == 71 && result.errorText.contains("disk is full"), "\(result.errorText)")
            #expect(try await disk.shell(list) == before)
            try await disk.makeSpace()
            try await unlock(disk).succeeded()
            try await expectLive(2, disk)
        }
    }

    /// Killed at each step, by `unlock` or `fetch`: the old version stays in use, and nothing is downloaded again.
    @Test(arguments: [
        "openingBegan", "piecesFreed:1", "piecesFreed:7", "treeWritten", "manifestSaved", "tailSaved",
        "versionRenamed", "versionActivated", "activationRecorded",
    ]) func killed(step: String) async throws {
        try await withRoom(mebibytes: 32) { disk in
            let asked = server.packs.count
            for number in 0..<2 {
                let result = try await unlock(disk, dyingAt: step)
                if number == 0 { #expect(result.exitCode == 137, "\(step) \(result.errorText)") }
                let isLive = step == "versionActivated" || step == "activationRecorded"
                if !isLive, result.exitCode == 137 { try await expectLive(1, disk, step) }
            }
            try await (step.hasSuffix("7") ? fetch("$KEYS", disk) : unlock(disk)).succeeded()
            try await expectLive(2, disk)
            #expect(server.packs.count == asked)
        }
    }

    /// Without its key it goes on waiting, also for a downloader.
    @Test func withoutItsKeyMeanwhile() async throws {
        try await expectOpened { disk in
            #expect(try await unlock(disk, dyingAt: "piecesFreed:3").exitCode == 137)
            try await fetch("", disk).succeeded()
            try await world.run(
                "downloader --request update \(server.url) --store \(store) $TRUST", through: disk.inside
            ).succeeded()
            try await expectLive(1, disk)
        }
    }

    /// A save to the disk fails after pieces were freed, also where the disk has room for both forms again.
    @Test func aFailedSave() async throws {
        let library = try await PreloadedLibrary.through(
            PreloadedLibrary.failingFileSystemSync, in: world.folder)
        func unlock(_ disk: MountedAreas, failingAt number: Int) async throws {
            let result = try await world.run(
                "unlock --store \(store) $KEYS", through: disk.inside + library + ["SYNC_NUMBER=\(number)"])
            result.failed(74, naming: "save the file system")
            try await expectLive(1, disk, "\(number)")
        }
        try await expectOpened { disk in
            for number in [4, 1, 3] { try await unlock(disk, failingAt: number) }
            try await disk.makeSpace()
            try await unlock(disk, failingAt: 1)
        }
    }

    /// The tree has pieces that are nowhere else: an error that may pass does not cost it.
    @Test func anErrorOfTakingUpTheTree() async throws {
        try await expectOpened { disk in
            #expect(try await unlock(disk, dyingAt: "piecesFreed:3").exitCode == 137)
            let tree = try await disk.shell("printf %s '\(store)'/permanent/level/*.arriving")
            let failing = Sandbox.injecting("error=EROFS", into: "mkdirat", on: tree)
            let result = try await world.run(
                "unlock --store \(store) $KEYS", through: disk.inside + failing)
            result.failed(73, naming: "create the folder")
        }
    }

    /// What was opened already counts, as it does once it is live.
    @Test func theUsageOfAPackThatIsBeingOpened() async throws {
        try await withRoom(mebibytes: 32) { disk in
            func size() async throws -> Int64 {
                let usage = try await world.run(
                    "usage --json --store \(store)", through: disk.inside
                ).succeeded().json()
                return try #require(usage["packs"]?.elements?.first?["sizeOnDisk"]?.number)
            }
            let before = try await size()
            #expect(try await unlock(disk, dyingAt: "piecesFreed:5").exitCode == 137)
            #expect(try await size() > before - 1_000_000)
        }
    }

    /// A piece is damaged after others were freed: `fetch` downloads it alone, on the same disk.
    @Test func aDamagedPieceMidway() async throws {
        try await withRoom(mebibytes: 32) { disk in
            #expect(try await unlock(disk, dyingAt: "piecesFreed:3").exitCode == 137)
            try await disk.shell(
                "printf 'sixteen bytes, x' | dd of=\"$(echo '\(store)'/shared/packs/level/@*.avpack)\" bs=1 seek=30000000 conv=notrunc"
            )
            try await unlock(disk).failed(65, naming: "fetch the pack")
            try await expectLive(1, disk)
            let sent = server.packBytes
            #expect(try await fetch("$KEYS", disk, dyingAt: "piecesFreed:2").exitCode == 137)
            try await fetch("$KEYS", disk).succeeded()
            try await expectLive(2, disk)
            #expect(server.packBytes - sent < 1_500_000, "\(server.packBytes - sent)")
        }
    }
}
