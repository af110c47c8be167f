import Testing

struct CatTests {
    let sample: SamplePack
    init() throws { sample = try SamplePack() }

    @Test func failsWhenTheOutputCannotBeWritten() async throws {
        try await sample.seal()
        for command in [
            "cat $PACK run.sh", "open $PACK --tar -", "inspect $PACK", "inspect $PACK --json",
        ] as [Words] {
            for (script, code) in [("exec \"$@\" > /dev/full", Int32(71)), ("exec \"$@\" >&-", 74)] {
                try await sample.run("\(command) $KEYS", through: Command.shell(script)).failed(
                    code, naming: "standard output")
            }
        }
    }
}
