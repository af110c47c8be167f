import Sampling
import StrictJSON
import SystemPackage
import Testing

/// Sealing after an earlier version.
struct PreviousTests {
    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

    private func version(_ name: String) throws -> Int64 {
        try samplePack.manifest("\(name).json").integer("version", at: name)
    }

    private func seal(_ name: String, after previous: String, _ options: String...) async throws
        -> CommandResult
    {
        try await Command.run(
            [
                "seal", samplePack.level, "-o", samplePack.folder[name], "--previous",
                samplePack.folder[previous],
            ] + samplePack.keys
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
        try await samplePack.seal(
            nil, as: samplePack.folder["v1"], "--id", "levels/one", "--pack-version", "7")
        #expect(try pieces(await seal("again", after: "v1").succeeded()).new == 0)
        #expect(try samplePack.folder.bytes("again") == samplePack.folder.bytes("v1"))
        #expect(try samplePack.folder.bytes("again.json") == samplePack.folder.bytes("v1.json"))
    }

    /// A holder of the previous pack and its key can check what another machine sealed.
    @Test func twoMachinesSealTheSameBytes() async throws {
        let folder = samplePack.folder
        try await samplePack.seal(nil, as: folder["v1"], "--id", "levels/one")
        /// Copies the source with other times and modes, its files made in another order.
        func copy(to target: String, umask: String, date: String, order: String) async throws {
            let script = """
                set -e; cd "$1"; umask $3; mkdir "$2"
                find . -type d -empty -exec mkdir -p "$2/{}" \\;
                find . -type f | LC_ALL=C sort $5 | while IFS= read -r file; do
                    mkdir -p "$2/$(dirname "$file")"; cat "$file" > "$2/$file"
                    if [ -x "$file" ]; then chmod u+x "$2/$file"; fi
                    touch -d "$4" "$2/$file"
                done
                """
            try await Tool.run(
                ["sh", "-c", script, "sh", samplePack.level, folder[target], umask, date, order]
            ).succeeded()
        }
        for (name, isChanged) in [("unchanged", false), ("changed", true)] {
            if isChanged { try folder.write("level/maps/start.json", "changed") }
            try await copy(to: "\(name) 1", umask: "022", date: "2001-02-03", order: "-f")
            try await copy(to: "\(name) 2", umask: "077", date: "2031-02-03", order: "-r")
            for machine in 1...2 {
                try await Command.run(
                    [
                        "seal", folder["\(name) \(machine)"], "-o", folder["\(name) \(machine).avpack"],
                        "--previous", folder["v1"],
                    ] + samplePack.keys, umask: machine == 1 ? 0o22 : 0o77
                ).succeeded()
            }
            for ending in ["", ".json"] {
                let first = try folder.bytes("\(name) 1.avpack\(ending)")
                #expect(try folder.bytes("\(name) 2.avpack\(ending)") == first)
                #expect(try (first == folder.bytes("v1\(ending)")) == !isChanged)
            }
        }
    }

    @Test func aFreshContentKeyHidesEqualContent() async throws {
        try await samplePack.seal(nil, as: samplePack.folder["a"])
        try await samplePack.seal(nil, as: samplePack.folder["b"])
        #expect(
            try samplePack.manifest("a.json")["contentKeyID"] != samplePack.manifest("b.json")["contentKeyID"]
        )
        #expect(try samplePack.folder.bytes("a") != samplePack.folder.bytes("b"))
    }

    @Test func versionsCountUpWithTheContent() async throws {
        try await samplePack.seal(nil, as: samplePack.folder["v1"])
        try samplePack.folder.write("level/maps/start.json", "changed")
        let changed = try await seal("v2", after: "v1").succeeded()
        #expect(try version("v2") == 2)
        #expect(try pieces(changed).new >= 1)
        #expect(
            try samplePack.manifest("v2.json")["contentKeyID"]
                == samplePack.manifest("v1.json")["contentKeyID"])
        // A mode and an empty folder are content too.
        try samplePack.folder.setPermissions("level/run.sh", 0o644)
        try await seal("v3", after: "v2").succeeded()
        #expect(try version("v3") == 3)
        try samplePack.folder.makeFolder("level/empty/other")
        try await seal("v4", after: "v3", "--pack-version", "44").succeeded()
        #expect(try version("v4") == 44)
        try await samplePack.open(samplePack.folder["v4"], into: samplePack.folder["opened"]).succeeded()
        try await expectSameTree(samplePack.level, samplePack.folder["opened"])
    }

    @Test func revertedContentSealsToTheSameBytes() async throws {
        try await samplePack.seal(nil, as: samplePack.folder["v1"])
        let original = samplePack.folder["original"]
        try await Tool.run("cp", "-a", samplePack.level, original)
        try samplePack.folder.write("level/maps/start.json", "changed")
        try samplePack.folder.write("level/noise.bin", SamplePack.noise(300_000, seed: 9))
        try await Tool.run("rm", samplePack.level + "/nothing")
        try await seal("v2", after: "v1").succeeded()
        try await Tool.run("rm", "-r", samplePack.level)
        try await Tool.run("mv", original, samplePack.level)
        try await seal("back", after: "v2", "--pack-version", "1").succeeded()
        #expect(try samplePack.folder.bytes("back") == samplePack.folder.bytes("v1"))
        #expect(try samplePack.folder.bytes("back.json") == samplePack.folder.bytes("v1.json"))
    }

    /// One small file of many, and 1 KB put into the beginning of 60 MB.
    @Test func smallChangesCostFewPieces() async throws {
        for number in 0..<300 {
            try samplePack.folder.write(
                "level/small/\(number)", SamplePack.noise(5_000, seed: UInt64(number)))
        }
        let container = samplePack.folder["level/container"]
        let megabytes = Sampling.isWhole ? 60 : 20
        try await Tool.run("/bin/sh", "-c", "head -c \(megabytes)000000 /dev/urandom > '\(container)'")
        try await samplePack.seal(nil, as: samplePack.folder["v1"])
        try samplePack.folder.write("level/small/150", SamplePack.noise(5_100, seed: 1_000))
        let small = try pieces(await seal("v2", after: "v1").succeeded())
        #expect(small.all > 5 * megabytes && (1...2).contains(small.new), "\(small)")
        let insert =
            "{ head -c 5000 '\(container)'; head -c 1024 /dev/urandom; tail -c +5001 '\(container)'; } > x"
        try await Tool.run(
            "/bin/sh", "-ec", "\(insert); mv x '\(container)'", workingDirectory: samplePack.folder.path)
        let inserted = try pieces(await seal("v3", after: "v2").succeeded())
        #expect((1...8).contains(inserted.new), "\(inserted)")
    }

    @Test func refusesAnInvalidPreviousPack() async throws {
        try await samplePack.seal(nil, as: samplePack.folder["v1"])
        try await samplePack.seal(
            nil, as: samplePack.folder["bare"], "--manifest", samplePack.folder["x.json"])
        try samplePack.folder.write("other.jwks", SamplePack.jwk(SamplePack.noise(32)), permissions: 0o600)
        try await samplePack.unchanged {
            try await seal("new", after: "v1", "--id", "another").failed(64, naming: "another", "level")
            try await seal("new", after: "absent").failed(66, naming: samplePack.folder["absent"])
            try await seal("new", after: "bare").failed(66, naming: "bare.json")
            try await seal("new", after: "vault.jwks").failed(65, naming: samplePack.keyFile)
            let wrong = [
                "--previous", samplePack.folder["v1"], "--keys", "file:\(samplePack.folder["other.jwks"])",
            ]
            try await Command.run(["seal", samplePack.level, "-o", samplePack.folder["new"]] + wrong).failed(
                77)
        }
    }

    @Test func aDamagedPreviousPackIsNotReused() async throws {
        try await samplePack.seal(nil, as: samplePack.folder["v1"])
        var bytes = try samplePack.folder.bytes("v1")
        bytes[40_000] ^= 1
        try samplePack.folder.write("v1", bytes)
        let result = try await seal("v2", after: "v1")
        if result.exitCode == 0 {
            try await samplePack.open(samplePack.folder["v2"], into: samplePack.folder["opened"]).succeeded()
            try await expectSameTree(samplePack.level, samplePack.folder["opened"])
        } else {
            result.failed(65, naming: samplePack.folder["v1"])
            #expect(try !samplePack.folder.exists("v2"))
        }
    }

    @Test func refusesAVersionBeyondTheMaximum() async throws {
        try await samplePack.seal(nil, as: samplePack.folder["last"], "--pack-version", "9007199254740991")
        try await seal("same", after: "last").succeeded()
        try samplePack.folder.write("level/run.sh", "changed")
        try await samplePack.unchanged { try await seal("more", after: "last").failed(64, naming: "version") }
    }
}
