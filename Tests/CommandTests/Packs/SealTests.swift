import Testing

struct SealTests {
    let sample: SamplePack
    init() throws { sample = try SamplePack() }

    /// A failed output is a failure, though the pack is complete.
    @Test func failsWhenTheOutputCannotBeWritten() async throws {
        try await sample.seal()
        let full = try await sample.run(
            "seal $LEVEL -o $PACK --json --force $KEYS", through: Command.shell("exec \"$@\" > /dev/full"))
        full.failed(71, naming: "standard output")
    }
}
