import Sampling
import StrictJSON
import SystemPackage
import Testing

/// Sealing after an earlier version.
struct PreviousTests {
    let bench: Bench
    init() throws { bench = try Bench() }

    private func version(_ name: String) throws -> Int64 {
        try bench.manifest("\(name).json").integer("version", at: name)
    }

    private func seal(_ name: String, after previous: String, _ options: String...) async throws
        -> CommandResult
    {
        try await Command.run(
            ["seal", bench.level, "-o", bench.folder[name], "--previous", bench.folder[previous]] + bench.keys
                + options)
    }

    /// The number of pieces, and of new ones, as reported on standard error.
    private func pieces(_ result: CommandResult) throws -> (all: Int, new: Int) {
        let numbers = result.errorText.matches(of: /(\d+) pieces, (\d+) reused/)
        let match = try #require(numbers.first, "\(result.errorText)")
        let all = try #require(Int(match.1))
        return (all, all - (try #require(Int(match.2))))
    }

    @Test func theSameContentGivesTheSameBytes() async throws {
        try await bench.seal(nil, as: bench.folder["v1"], "--id", "levels/one", "--pack-version", "7")
        #expect(try pieces(await seal("again", after: "v1").succeeded()).new == 0)
        #expect(try bench.folder.bytes("again") == bench.folder.bytes("v1"))
        #expect(try bench.folder.bytes("again.json") == bench.folder.bytes("v1.json"))
    }

    @Test func aFreshContentKeyHidesEqualContent() async throws {
        try await bench.seal(nil, as: bench.folder["a"])
        try await bench.seal(nil, as: bench.folder["b"])
        #expect(try bench.manifest("a.json")["contentKeyID"] != bench.manifest("b.json")["contentKeyID"])
        #expect(try bench.folder.bytes("a") != bench.folder.bytes("b"))
    }

    @Test func versionsCountUpWithTheContent() async throws {
        try await bench.seal(nil, as: bench.folder["v1"])
        try bench.folder.write("level/maps/start.json", "changed")
        let changed = try await seal("v2", after: "v1").succeeded()
        #expect(try version("v2") == 2)
        #expect(try pieces(changed).new >= 1)
        #expect(
            try bench.manifest("v2.json")["contentKeyID"] == bench.manifest("v1.json")["contentKeyID"])
        // A mode and an empty folder are content too.
        try bench.folder.setPermissions("level/run.sh", 0o644)
        try await seal("v3", after: "v2").succeeded()
        #expect(try version("v3") == 3)
        try bench.folder.makeFolder("level/empty/other")
        try await seal("v4", after: "v3", "--pack-version", "44").succeeded()
        #expect(try version("v4") == 44)
        try await bench.open(bench.folder["v4"], into: bench.folder["opened"]).succeeded()
        try await expectSameTree(bench.level, bench.folder["opened"])
    }

    @Test func revertedContentSealsToTheSameBytes() async throws {
        try await bench.seal(nil, as: bench.folder["v1"])
        let original = bench.folder["original"]
        try await Tool.run("cp", "-a", bench.level, original)
        try bench.folder.write("level/maps/start.json", "changed")
        try bench.folder.write("level/noise.bin", Bench.noise(300_000, seed: 9))
        try await Tool.run("rm", bench.level + "/nothing")
        try await seal("v2", after: "v1").succeeded()
        try await Tool.run("rm", "-r", bench.level)
        try await Tool.run("mv", original, bench.level)
        try await seal("back", after: "v2", "--pack-version", "1").succeeded()
        #expect(try bench.folder.bytes("back") == bench.folder.bytes("v1"))
        #expect(try bench.folder.bytes("back.json") == bench.folder.bytes("v1.json"))
    }

    /// One small file of many, and 1 KB put into the beginning of 60 MB.
    @Test func smallChangesCostFewPieces() async throws {
        for number in 0..<300 {
            try bench.folder.write("level/small/\(number)", Bench.noise(5_000, seed: UInt64(number)))
        }
        let container = bench.folder["level/container"]
        let megabytes = Sampling.isWhole ? 60 : 20
        try await Tool.run("/bin/sh", "-c", "head -c \(megabytes)000000 /dev/urandom > '\(container)'")
        try await bench.seal(nil, as: bench.folder["v1"])
        try bench.folder.write("level/small/150", Bench.noise(5_100, seed: 1_000))
        let small = try pieces(await seal("v2", after: "v1").succeeded())
        #expect(small.all > 5 * megabytes && (1...2).contains(small.new), "\(small)")
        let insert =
            "{ head -c 5000 '\(container)'; head -c 1024 /dev/urandom; tail -c +5001 '\(container)'; } > x"
        try await Tool.run(
            "/bin/sh", "-ec", "\(insert); mv x '\(container)'", workingDirectory: bench.folder.path)
        let inserted = try pieces(await seal("v3", after: "v2").succeeded())
        #expect((1...8).contains(inserted.new), "\(inserted)")
    }

    @Test func refusesAnInvalidPreviousPack() async throws {
        try await bench.seal(nil, as: bench.folder["v1"])
        try await bench.seal(nil, as: bench.folder["bare"], "--manifest", bench.folder["x.json"])
        try bench.folder.write("other.jwks", Bench.jwk(Bench.noise(32)), permissions: 0o600)
        try await bench.unchanged {
            try await seal("new", after: "v1", "--id", "another").failed(64, naming: "another", "level")
            try await seal("new", after: "absent").failed(66, naming: bench.folder["absent"])
            try await seal("new", after: "bare").failed(66, naming: "bare.json")
            try await seal("new", after: "vault.jwks").failed(65, naming: bench.keyFile)
            let wrong = ["--previous", bench.folder["v1"], "--keys", "file:\(bench.folder["other.jwks"])"]
            try await Command.run(["seal", bench.level, "-o", bench.folder["new"]] + wrong).failed(77)
        }
    }

    @Test func aDamagedPreviousPackIsNotReused() async throws {
        try await bench.seal(nil, as: bench.folder["v1"])
        var bytes = try bench.folder.bytes("v1")
        bytes[40_000] ^= 1
        try bench.folder.write("v1", bytes)
        let result = try await seal("v2", after: "v1")
        if result.exitCode == 0 {
            try await bench.open(bench.folder["v2"], into: bench.folder["opened"]).succeeded()
            try await expectSameTree(bench.level, bench.folder["opened"])
        } else {
            result.failed(65, naming: bench.folder["v1"])
            #expect(try !bench.folder.exists("v2"))
        }
    }

    @Test func refusesAVersionBeyondTheMaximum() async throws {
        try await bench.seal(nil, as: bench.folder["last"], "--pack-version", "9007199254740991")
        try await seal("same", after: "last").succeeded()
        try bench.folder.write("level/run.sh", "changed")
        try await bench.unchanged { try await seal("more", after: "last").failed(64, naming: "version") }
    }
}
