import SystemPackage
import Testing

/// A pack that `seal` makes or replaces opens at any time, with its old or new content.
@Suite(.timeLimit(.minutes(10))) struct ReplacedPackTests {
    let samplePack: SamplePack
    private let seal: [String]

    init() async throws {
        samplePack = try SamplePack()
        try samplePack.folder.write("new/file", "new content")
        try samplePack.folder.write("new/noise", SamplePack.noise(100_000, seed: 5))
        seal = [
            "seal", samplePack.folder["new"], "-o", samplePack.folder["place/out"], "--id", "level",
            "--force",
        ]
        try samplePack.folder.makeFolder("place")
    }

    /// Seals again with a fault. A pack that is there afterwards must open.
    private func sealWithFault(_ fault: String, _ call: String, _ number: Int, replacing: Bool) async throws
        -> CommandResult
    {
        let hint = "\(fault) \(call) \(number)"
        let (place, out, opened) = (
            samplePack.folder["place"], samplePack.folder["place/out"], samplePack.folder["opened"]
        )
        try await Tool.run("rm", "-rf", place, opened)
        try samplePack.folder.makeFolder("place")
        if replacing { try await samplePack.seal(nil, as: out) }
        let result = try await Command.run(
            seal + samplePack.keys, through: Sandbox.injecting(fault, into: call, number: number))
        if try samplePack.folder.exists("place/out") {
            let answer = try await samplePack.open(out, into: opened)
            #expect(answer.exitCode == 0, "\(answer.errorText) \(hint)")
            let (found, old) = (
                try await SamplePack.listing(opened), try await SamplePack.listing(samplePack.level)
            )
            let new = try await SamplePack.listing(samplePack.folder["new"])
            #expect(found == new || replacing && found == old, "\(hint)")
        } else {
            #expect(!replacing, "the pack is gone: \(hint)")
        }
        // Sealing again works and leaves no scratch files.
        try await Command.run(seal + samplePack.keys).succeeded()
        #expect(try samplePack.folder.names(in: "place") == ["out", "out.json"], "\(hint)")
        try await Tool.run("rm", "-rf", opened)
        try await samplePack.open(out, into: opened).succeeded()
        try await expectSameTree(samplePack.folder["new"], opened)
        return result
    }

    @Test(arguments: ["renameat", "fsync", "unlinkat"], [true, false])
    func killedAtEveryStep(call: String, replacing: Bool) async throws {
        for number in 1...20 {
            let result = try await sealWithFault("signal=KILL", call, number, replacing: replacing)
            guard result.exitCode != 0 else {
                #expect(number > 1 || call == "unlinkat", "\(call) was never called")
                break
            }
            try #require(result.exitCode == 137, "\(result.errorText)")
        }
    }

    /// An error is reported, and leaves no more files than a kill.
    @Test(arguments: ["renameat", "fsync"], [true, false])
    func failingAtEveryStep(call: String, replacing: Bool) async throws {
        for number in 1...20 {
            let result = try await sealWithFault("error=EIO", call, number, replacing: replacing)
            guard result.exitCode != 0 else {
                #expect(number > 1, "\(call) was never called")
                break
            }
            result.failed(74, naming: samplePack.folder["place"])
        }
    }
}
