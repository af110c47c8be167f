import Foundation
import Sampling
import SystemPackage
import Testing

/// No other process of the user reads the command's memory, and none is left in a core file.
@Suite(.timeLimit(.minutes(10))) struct UndumpableTests {
    let sample: SamplePack
    init() throws { sample = try SamplePack() }

    /// The process makes itself undumpable before it reads a key.
    @Test func processIsNotDumpable() async throws {
        try await sample.seal()
        let log = sample["log"]
        let strace = ["strace", "-f", "-qq", "-o", log, "-e", "trace=prctl,openat"]
        try await sample.run("cat $PACK run.sh $KEYS", through: strace).succeeded()
        let lines = try sample.text("log").split(separator: "\n")
        let call = "prctl(PR_SET_DUMPABLE, SUID_DUMP_DISABLE) = 0"
        let place = try #require(lines.firstIndex { $0.hasSuffix(call) })
        // After that call strace as an ordinary user can no longer read file names.
        #expect(!lines[..<place].contains { $0.contains("vault.jwks") })
        #expect(lines[place...].contains { $0.contains("openat(") })
    }

    /// Aborted while it holds its keys and waits for its source.
    @Test func anAbortLeavesNoCore() async throws {
        let place = try sample.makeFolder("place")
        try await Tool.run("mkfifo", sample["pipe"])
        let wrapper = Command.shell("ulimit -c unlimited; exec \"$@\" <> '\(sample["pipe"])'")
        let seal: Words = "seal - -o \(place)/out --id x $KEYS"
        try await sample.whileRunning(seal, workingDirectory: FilePath(place), through: wrapper) {
            process in
            // It waits in its scratch folder.
            try await wait(for: "the output") { try !sample.names(in: "place").isEmpty }
            let limits = try String(contentsOfFile: "/proc/\(process.processID)/limits", encoding: .utf8)
            let core = try #require(
                limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
            #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
            process.send(SIGABRT)
        }
        #expect(try sample.names(in: "place").allSatisfy { $0.hasPrefix(".assetvault-") })
    }
}
