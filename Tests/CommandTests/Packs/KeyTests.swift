import Testing

struct KeyTests {
    let samplePack: SamplePack
    init() throws { samplePack = try SamplePack() }

    @Test func aKeyComesFromAFileDescriptor() async throws {
        try await samplePack.seal()
        let result = try await Command.run(
            "cat", samplePack.pack, "run.sh", "--keys", "fd:7",
            through: Command.shell("exec \"$@\" 7< '\(samplePack.keyFile)'"))
        #expect(try result.succeeded().text == "#!/bin/sh\n")
    }
}
