import FaultServer
import Foundation
import TestFiles
import Testing
import VaultBase

/// A file that moves to another tag of a resource tree keeps its pieces, and clients download none of them again.
@Suite(.timeLimit(.minutes(10))) struct MovedFileTests {
    private static let size = 900_000

    let world: World

    init() async throws { world = try await World() }

    /// A tree with one tag for each of some folders, `t00`, `t01` and so on.
    private func declare(_ count: Int) throws {
        let names = (0..<count).map(Self.name)
        for (number, name) in names.enumerated() {
            try world.write("game/\(name)/map", Bytes.random(20_000, seed: UInt64(100 + number)))
        }
        try world.declareTree(names.map { ("\($0)/**", [$0]) })
    }

    private static func name(_ number: Int) -> String { "t" + (number < 10 ? "0" : "") + "\(number)" }

    private func move(_ file: String, from source: Int, to target: Int) throws {
        try FileManager.default.moveItem(
            atPath: world["game/\(Self.name(source))/\(file)"],
            toPath: world["game/\(Self.name(target))/\(file)"])
    }

    /// What a fetch downloads, one pack after the other; a dry run says the same.
    private func fetchedBytes() async throws -> Int {
        let planned = try await Nginx.run(over: world.site) { nginx in
            try await world.fetch("--all --dry-run --json", from: nginx.url).succeeded().json()["bytes"]?
                .number
        }
        return try await Nginx.run(over: world.site) { nginx in
            try await world.fetch("--all --parallel 1", from: nginx.url).succeeded()
            let bytes = try nginx.packBytes()
            #expect(planned == Int64(bytes))
            return bytes
        }
    }

    private func expectFiles(_ files: [String], of number: Int, _ form: String) async throws {
        let path = try await world.path(of: "game/\(Self.name(number))")
        guard form == "--sealed" else {
            #expect(try Tree(path).files == files)
            return
        }
        let target = world["opened-\(UUID())"]
        try await world.run("open \(path) -o \(target) $KEYS").succeeded()
        #expect(try Tree(target).files == files)
    }

    /// Superseded versions are gone after the run.
    private func expectOneVersion() throws {
        for id in try world.names(in: "store/permanent/game") {
            let names = try world.names(in: "store/permanent/game/\(id)")
            #expect(names.count { $0.hasSuffix(".json") } == 1, "\(id): \(names)")
        }
    }

    /// To a pack that is updated later, when the earlier version of the first one is superseded, and to one that is updated
    /// before; among few packs and among many.
    @Test(arguments: ["--sealed", "--opened"], [(1, 4, 6), (4, 1, 6), (39, 0, 40), (0, 39, 40)])
    func aFileThatMovesIsNotDownloadedAgain(form: String, path: (source: Int, target: Int, packs: Int))
        async throws
    {
        try world.write("game/\(Self.name(path.source))/film", Bytes.random(Self.size, seed: 1))
        try declare(path.packs)
        try await world.publish()
        try await world.fetch("--all \(form)").succeeded()
        try move("film", from: path.source, to: path.target)
        try await world.publish()
        let bytes = try await fetchedBytes()
        #expect(bytes < Self.size / 20, "\(bytes)")
        let name = Self.name(path.target)
        try await expectFiles(["\(name)/film", "\(name)/map"], of: path.target, form)
        try expectOneVersion()
    }

    /// Two packs exchange their files.
    @Test(arguments: ["--sealed", "--opened"]) func filesAreExchanged(form: String) async throws {
        for (number, name) in [(1, "one"), (2, "two")] {
            try world.write(
                "game/\(Self.name(number))/\(name)", Bytes.random(Self.size, seed: UInt64(number)))
        }
        try declare(3)
        try await world.publish()
        try await world.fetch("--all \(form)").succeeded()
        try move("one", from: 1, to: 2)
        try move("two", from: 2, to: 1)
        try await world.publish()
        let bytes = try await fetchedBytes()
        #expect(bytes < Self.size / 20, "\(bytes)")
        try await expectFiles(["t01/map", "t01/two"], of: 1, form)
        try await expectFiles(["t02/map", "t02/one"], of: 2, form)
    }

    /// Killed when the first pack is updated: what it superseded is removed by the next run, whatever that downloads.
    @Test(
        arguments: [
            ("--sealed", "activationRecorded"), ("--opened", "activationRecorded"),
            ("--sealed", "pieceReused:1"),
            ("--opened", "treeWritten:2"),
        ])
    func killed(form: String, step: String) async throws {
        try world.write("game/t01/film", Bytes.random(Self.size, seed: 1))
        try declare(3)
        try await world.publish()
        try await world.fetch("--all \(form)").succeeded()
        try move("film", from: 1, to: 2)
        try await world.publish()
        let fetch: Words = "fetch $SITE $STORE --all --parallel 1 $KEYS"
        #expect(try await world.run(fetch, dyingAt: step).exitCode == 137)
        try await world.run(fetch).succeeded()
        try await expectFiles(["t02/film", "t02/map"], of: 2, form)
        try expectOneVersion()
    }

    /// Where the disk has no room for superseded versions they go at once.
    @Test(.enabled(if: MountedAreas.areAllowed, "this user may not mount anything"))
    func aDiskThatIsNearlyFull() async throws {
        for round in 0..<2 {
            for number in 0..<3 {
                try world.write(
                    "game/\(Self.name(number))/noise",
                    Bytes.random(6 << 20, seed: UInt64(10 * round + number)))
            }
            try declare(3)
            try await world.publish()
            guard round == 1 else {
                try await world.fetch("--all").succeeded()
                continue
            }
            try await MountedAreas.mount(["permanent"], of: world.store) { mounted in
                // 16 MiB are to stay free.
                try await mounted.leave(kibibytes: 25 << 10, in: "permanent")
                try await world.fetch("--all --parallel 1", through: mounted.inside).succeeded()
                let versions = try await mounted.shell("ls '\(world.store)/permanent/game/'*/*.json")
                #expect(versions.split(separator: "\n").count == 3, "\(versions)")
            }
        }
    }

    /// A downloader has no key: it takes pieces from what is sealed, also from what waits and is superseded meanwhile.
    @Test func aDownloader() async throws {
        try world.write("game/t01/film", Bytes.random(Self.size, seed: 1))
        try declare(3)
        try world.settings {
            try $0.change("resources", "game") { $0["prefetch"] = ["t00", "t01", "t02"] }
        }
        try await world.publish()
        try await world.download("install").succeeded()
        try move("film", from: 1, to: 2)
        try await world.publish()
        try await Nginx.run(over: world.site) { nginx in
            try await world.download("install", from: nginx.url).succeeded()
            let bytes = try nginx.packBytes()
            #expect(bytes < Self.size / 10, "\(bytes)")
        }
        try await world.run("unlock $STORE $KEYS").succeeded()
        try await expectFiles(["t02/film", "t02/map"], of: 2, "--opened")
        #expect(try world.files(in: "shared").filter { $0.hasSuffix(".avpack") } == [])
    }
}
