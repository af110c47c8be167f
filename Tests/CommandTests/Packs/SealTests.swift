import Testing

struct SealTests {
    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

    /// A failed output is a failure, though the pack is complete.
    @Test func failsWhenTheOutputCannotBeWritten() async throws {
        try await samplePack.seal()
        let full = try await Command.run(
            ["seal", samplePack.level, "-o", samplePack.pack, "--json", "--force"] + samplePack.keys,
            through: Command.shell("exec \"$@\" > /dev/full"))
        full.failed(71, naming: "standard output")
    }
}
