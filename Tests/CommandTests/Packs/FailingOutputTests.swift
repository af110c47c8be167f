import Testing

/// Standard output that can't be written is a failure.
struct FailingOutputTests {
    let sample: SamplePack

    init() async throws {
        sample = try SamplePack()
        try await sample.seal()
    }

    private static let full = Command.shell("exec \"$@\" > /dev/full")
    private static let closed = Command.shell("exec \"$@\" >&-")

    @Test func whereItIsTheResult() async throws {
        for words in [
            "cat $PACK run.sh $KEYS", "open $PACK --tar - $KEYS", "inspect $PACK $KEYS",
            "inspect $PACK --json $KEYS",
        ] as [Words] {
            try await sample.run(words, through: Self.full).failed(71, naming: "standard output")
            try await sample.run(words, through: Self.closed).failed(74, naming: "standard output")
        }
    }

    /// Also where a pack is complete, or a key would be lost.
    @Test(arguments: ["seal $LEVEL -o $PACK --json --force $KEYS", "keygen -o -"] as [Words])
    func whereItIsAReport(words: Words) async throws {
        try await sample.run(words, through: Self.full).failed(71, naming: "standard output")
    }
}
