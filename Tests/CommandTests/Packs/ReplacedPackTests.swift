import Testing

/// A pack that `seal` makes or replaces opens at any time, with its old or new content.
@Suite(.timeLimit(.minutes(10))) struct ReplacedPackTests {
    let sample: SamplePack
    private let seal: Words = "seal $WORK/new -o $WORK/place/out --id level --force $KEYS"

    init() async throws {
        sample = try SamplePack()
        try sample.write("new/file", "new content")
        try sample.write("new/noise", Bytes.random(100_000, seed: 5))
        try sample.makeFolder("place")
    }

    /// Seals again with a fault. A pack that is there afterwards must open.
    private func sealAgain(
        through wrapper: [String], replacing: Bool, _ hint: String
    ) async throws -> CommandResult {
        let (place, out, opened) = (sample["place"], sample["place/out"], sample["opened"])
        try await Tool.run("rm", "-rf", place, opened)
        try sample.makeFolder("place")
        if replacing { try await sample.seal(nil, as: out) }
        let result = try await sample.run(seal, through: wrapper)
        if try sample.exists("place/out") {
            let answer = try await sample.open(out, into: opened)
            #expect(answer.exitCode == 0, "\(answer.errorText) \(hint)")
            let (found, old) = (
                try await SamplePack.listing(opened), try await SamplePack.listing(sample.level)
            )
            let new = try await SamplePack.listing(sample["new"])
            #expect(found == new || replacing && found == old, "\(hint)")
        } else {
            #expect(!replacing, "the pack is gone: \(hint)")
        }
        // Sealing again works and leaves no scratch files.
        try await sample.run(seal).succeeded()
        #expect(try sample.names(in: "place") == ["out", "out.json"], "\(hint)")
        try await Tool.run("rm", "-rf", opened)
        try await sample.open(out, into: opened).succeeded()
        try await expectSameTree(sample["new"], opened)
        return result
    }

    @Test(arguments: ["renameat", "fsync", "unlinkat"], [true, false])
    func killedAtEveryStep(call: String, replacing: Bool) async throws {
        try await Killing.atEach(call, 1...20, isAlwaysCalled: call != "unlinkat") { number, wrapper in
            try await sealAgain(through: wrapper, replacing: replacing, "\(call) \(number)")
        }
    }

    /// An error is reported, and leaves no more files than a kill.
    @Test(arguments: ["renameat", "fsync"], [true, false])
    func failingAtEveryStep(call: String, replacing: Bool) async throws {
        for number in 1...20 {
            let failing = Sandbox.injecting("error=EIO", into: call, number: number)
            let result = try await sealAgain(through: failing, replacing: replacing, "\(call) \(number)")
            guard result.exitCode != 0 else {
                #expect(number > 1, "\(call) was never called")
                break
            }
            result.failed(74, naming: sample["place"])
        }
    }
}
