import Sampling
import Testing

/// Sealing after an earlier version.
struct PreviousTests {
    let sample: SamplePack
    init() throws { sample = try SamplePack() }

    private func seal(_ name: String, after previous: String, _ options: String...) async throws
        -> CommandResult
    {
        try await sample.run("seal $LEVEL -o \(sample[name]) --previous \(sample[previous]) $KEYS \(options)")
    }

    /// The number of pieces, and of new ones, as reported on standard error.
    private func pieces(_ result: CommandResult) throws -> (all: Int, new: Int) {
        let numbers = result.errorText.matches(of: /(\d+) pieces, (\d+) reused/)
        let match = try #require(numbers.first, "\(result.errorText)")
        let all = try #require(Int(match.1))
        return (all, all - (try #require(Int(match.2))))
    }

    /// One small file of many, and 1 KB put into the beginning of 60 MB.
    @Test func smallChangesCostFewPieces() async throws {
        for number in 0..<300 {
            try sample.write(
                "level/small/\(number)", Bytes.random(5_000, seed: UInt64(number)))
        }
        let container = sample["level/container"]
        let megabytes = Sampling.isWhole ? 60 : 20
        try await Tool.run("/bin/sh", "-c", "head -c \(megabytes)000000 /dev/urandom > '\(container)'")
        try await sample.seal(nil, as: sample["v1"])
        try sample.write("level/small/150", Bytes.random(5_100, seed: 1_000))
        let small = try pieces(await seal("v2", after: "v1").succeeded())
        #expect(small.all > 5 * megabytes && (1...2).contains(small.new), "\(small)")
        let insert =
            "{ head -c 5000 '\(container)'; head -c 1024 /dev/urandom; tail -c +5001 '\(container)'; } > x"
        try await Tool.run(
            "/bin/sh", "-ec", "\(insert); mv x '\(container)'", workingDirectory: sample.path)
        let inserted = try pieces(await seal("v3", after: "v2").succeeded())
        #expect((1...8).contains(inserted.new), "\(inserted)")
    }
}
