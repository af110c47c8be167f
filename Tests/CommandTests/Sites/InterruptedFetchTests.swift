import FaultServer
import Foundation
import Sampling
import Testing

/// A fetch that is interrupted, by Ctrl-C for example, leaves nothing unfinished, and the next one resumes.
@Suite(.timeLimit(.minutes(10))) struct InterruptedFetchTests {
    let world: World

    /// Version 1 is in the store, version 2 on the site.
    init() async throws {
        world = try await World(level: "version 1")
        try await world.fetch().succeeded()
        try await world.copy("level", to: "old-level")
        try world.write("level/file", "version 2")
        try world.write("level/noise", Bytes.random(1 << 20, seed: 1))
        try await world.publish()
    }

    private func scratch() throws -> [String] {
        try Tree(world.store).scratch
    }

    private func expectNothingHalfDone(state: String = "loaded") async throws {
        #expect(try scratch() == [])
        #expect(try await world.tree(of: "level") == Tree(world["old-level"]))
        let status = try await world.status()["level"]
        #expect(status?.state == state && status?.version == 1)
        try await world.fetch().succeeded()
        try await world.expectLoaded("level")
    }

    /// While it opens the pack.
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func whileItOpens(signal: Int32) async throws {
        try await StoppedCommand.expectEnd(
            of: "fetch $SITE $STORE $KEYS", by: signal, in: "syncfs", notesIn: world
        ) {
            try world.names(in: "store/permanent/level").contains { $0.hasPrefix(".assetvault-") }
        }
        // What is opened of the download stays for the next time.
        try await expectNothingHalfDone(state: "downloading")
    }

    /// While it waits for its host.
    @Test(arguments: [SIGINT, SIGTERM]) func whileItDownloads(signal: Int32) async throws {
        let (host, gate) = try world.gatedHost()
        let noting = Command.shell("\"$@\"; echo $? > '\(world["code"])'") + ["env", "--default-signal=INT"]
        try await world.whileRunning("fetch \(host.url) $STORE $KEYS", through: noting) { shell in
            try await gate.whileBlocked {
                let children = "/proc/\(shell.processID)/task/\(shell.processID)/children"
                let text = try String(contentsOfFile: children, encoding: .utf8)
                let process = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
                kill(process, signal)
                try await wait(for: "its end") { try world.exists("code") && !world.bytes("code").isEmpty }
            }
        }
        #expect(try world.text("code") == "\(128 + signal)\n")
        try await expectNothingHalfDone(state: "downloading")
    }
}
