import Testing

struct CatTests {
    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

    @Test func failsWhenTheOutputCannotBeWritten() async throws {
        try await samplePack.seal()
        let commands = [
            ["cat", samplePack.pack, "run.sh"], ["open", samplePack.pack, "--tar", "-"],
            ["inspect", samplePack.pack],
            ["inspect", samplePack.pack, "--json"],
        ]
        for command in commands {
            for (script, code) in [("exec \"$@\" > /dev/full", Int32(71)), ("exec \"$@\" >&-", 74)] {
                try await Command.run(command + samplePack.keys, through: Command.shell(script))
                    .failed(code, naming: "standard output")
            }
        }
    }
}
