import Testing

struct KeyTests {
    let sample: SamplePack
    init() throws { sample = try SamplePack() }

    @Test func aKeyComesFromAFileDescriptor() async throws {
        try await sample.seal()
        let result = try await sample.run(
            "cat $PACK run.sh --keys fd:7", through: Command.shell("exec \"$@\" 7< '\(sample.keyFile)'"))
        #expect(try result.succeeded().text == "#!/bin/sh\n")
    }
}
