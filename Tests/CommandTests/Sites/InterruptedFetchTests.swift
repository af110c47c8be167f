import FaultServer
import Foundation
import Testing

/// A fetch that is interrupted, by Ctrl-C for example, leaves nothing unfinished, and the next one resumes.
@Suite(.timeLimit(.minutes(10))) struct InterruptedFetchTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    /// Version 1 is in the store, version 2 on the site.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try await testSite.fetch().succeeded()
        try await Tool.run("cp", "-a", folder["level"], folder["old-level"])
        try folder.write("level/file", "version 2")
        try folder.write("level/noise", Bytes.random(1 << 20, seed: 1))
        try await testSite.publish()
    }

    private var fetch: [String] {
        ["fetch", testSite.site, "--store", testSite.store] + testSite.keys
    }

    private func scratch() throws -> [String] {
        try Tree(testSite.store).entries.keys.filter { $0.contains(".assetvault-") }
    }

    private func expectNothingHalfDone(state: String = "loaded") async throws {
        #expect(try scratch() == [])
        #expect(try await testSite.tree(of: "level") == Tree(folder["old-level"]))
        let status = try await testSite.status()["level"]
        #expect(status?.state == state && status?.version == 1)
        try await testSite.fetch().succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }

    /// While it opens the pack.
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func whileItOpens(signal: Int32) async throws {
        try await StoppedCommand.expectEnd(of: fetch, by: signal, in: "syncfs", notesIn: folder) {
            try folder.names(in: "store/permanent/level").contains { $0.hasPrefix(".assetvault-") }
        }
        // The download is kept, and opened the next time.
        try await expectNothingHalfDone(state: "downloaded")
    }

    /// While it waits for its host.
    @Test(arguments: [SIGINT, SIGTERM]) func whileItDownloads(signal: Int32) async throws {
        let gate = Gate()
        defer { gate.open() }
        let site = try FaultServer(testSite.site) { request in
            if request.isForPack { gate.pass() }
            return .file
        }
        let code = folder["code"]
        try await Command.whileRunning(
            ["fetch", site.url, "--store", testSite.store] + testSite.keys,
            through: Command.shell("\"$@\"; echo $? > '\(code)'") + ["env", "--default-signal=INT"]
        ) { shell in
            try await gate.arrival()
            let children = "/proc/\(shell.processID)/task/\(shell.processID)/children"
            let text = try String(contentsOfFile: children, encoding: .utf8)
            let process = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            kill(process, signal)
            while try !folder.exists("code") || folder.bytes("code").isEmpty {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        #expect(try String(contentsOfFile: code, encoding: .utf8) == "\(128 + signal)\n")
        try await expectNothingHalfDone(state: "downloading")
    }
}
