import SystemPackage
import Testing

/// A pack that `seal` makes or replaces opens at any time, with its old or new content.
@Suite(.timeLimit(.minutes(10))) struct ReplacedPackTests {
    let bench: Bench
    private let seal: [String]

    init() async throws {
        bench = try Bench()
        try bench.folder.write("new/file", "new content")
        try bench.folder.write("new/noise", Bench.noise(100_000, seed: 5))
        seal = ["seal", bench.folder["new"], "-o", bench.folder["place/out"], "--id", "level", "--force"]
        try bench.folder.makeFolder("place")
    }

    /// Seals again with a fault. A pack that is there afterwards must open.
    private func sealWithFault(_ fault: String, _ call: String, _ number: Int, replacing: Bool) async throws
        -> CommandResult
    {
        let hint = "\(fault) \(call) \(number)"
        let (place, out, opened) = (bench.folder["place"], bench.folder["place/out"], bench.folder["opened"])
        try await Tool.run("rm", "-rf", place, opened)
        try bench.folder.makeFolder("place")
        if replacing { try await bench.seal(nil, as: out) }
        let result = try await Command.run(
            seal + bench.keys, through: Sandbox.injecting(fault, into: call, number: number))
        if try bench.folder.exists("place/out") {
            let answer = try await bench.open(out, into: opened)
            #expect(answer.exitCode == 0, "\(answer.errorText) \(hint)")
            let (found, old) = (try await Bench.listing(opened), try await Bench.listing(bench.level))
            let new = try await Bench.listing(bench.folder["new"])
            #expect(found == new || replacing && found == old, "\(hint)")
        } else {
            #expect(!replacing, "the pack is gone: \(hint)")
        }
        // Sealing again works and leaves no scratch files.
        try await Command.run(seal + bench.keys).succeeded()
        #expect(try bench.folder.names(in: "place") == ["out", "out.json"], "\(hint)")
        try await Tool.run("rm", "-rf", opened)
        try await bench.open(out, into: opened).succeeded()
        try await expectSameTree(bench.folder["new"], opened)
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
            result.failed(74, naming: bench.folder["place"])
        }
    }
}
