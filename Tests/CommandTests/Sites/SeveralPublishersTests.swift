import Foundation
import StrictJSON
import Testing

/// Two concurrent publishers of one vault.
@Suite(.timeLimit(.minutes(5))) struct SeveralPublishersTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        for name in ["one", "two"] { try folder.write("\(name)/file", name) }
    }

    private func publish(_ name: String, _ options: [String] = [], through wrapper: [String] = [])
        async throws -> CommandResult
    {
        try await Command.run(
            ["publish", testSite.vault, "--pack", "\(name)=\(folder[name])"] + options, through: wrapper)
    }

    private func wait(until isReached: () throws -> Bool) async throws {
        while try !isReached() { try await Task.sleep(for: .milliseconds(5)) }
    }

    private func expectBothAreThere() async throws {
        let packs = try #require(try folder.json("vault/vault.json")["packs"]?.members)
        #expect(packs.keys.sorted() == ["one", "two"])
        try await testSite.fetch().succeeded()
        for id in ["one", "two"] { #expect(try await testSite.tree(of: id) == Tree(folder[id])) }
    }

    /// One waits for its key while the other starts.
    @Test func theSecondPublisherIsBusy() async throws {
        try folder.write(
            "key.sh",
            """
            #!/bin/sh
            : > '\(folder["started"])'
            until [ -e '\(folder["go"])' ]; do sleep 0.02; done
            cat '\(folder["vault/keys/vault.jwks"])'

            """, permissions: 0o755)
        async let winner = publish("one", ["--keys", "exec:\(folder["key.sh"])"])
        do {
            defer { _ = try? folder.write("go", "") }
            try await wait { try folder.exists("started") }
            let before = try Tree(testSite.vault)
            try await publish("two").failed(75, naming: testSite.vault)
            try await Command.run("publish", testSite.vault).failed(75, naming: testSite.vault)
            #expect(try Tree(testSite.vault) == before)
        }
        try await winner.succeeded()
        try await publish("two").succeeded()
        try await expectBothAreThere()
    }

    /// One has read the settings and waits for the lock while the other declares a pack.
    @Test func noDeclarationIsLost() async throws {
        let pid = folder["pid"]
        let wrapper =
            Sandbox.injecting("delay_enter=600000000", into: "flock", number: 1)
            + Command.shell("echo $$ > '\(pid)'; exec \"$@\"")
        let arguments = ["publish", testSite.vault, "--pack", "two=\(folder["two"])"]
        try await Command.whileRunning(arguments, through: wrapper) { strace in
            try await wait { holdsTheLockFile(pid) }
            try await publish("one").succeeded()
            // Lets it go on.
            strace.send(SIGKILL)
            try await wait { !isRunning(pid) }
        }
        try await expectBothAreThere()
    }

    private func folder(ofProcess pid: String) -> String? {
        let text = (try? String(contentsOfFile: pid, encoding: .utf8)) ?? ""
        return text.hasSuffix("\n") ? "/proc/\(text.dropLast())" : nil
    }

    /// It opens the lock's file just before it takes the lock.
    private func holdsTheLockFile(_ pid: String) -> Bool {
        guard let process = folder(ofProcess: pid) else { return false }
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "\(process)/fd")) ?? []
        return open.contains {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(process)/fd/\($0)")
            return target?.hasSuffix("vault/.lock") == true
        }
    }

    private func isRunning(_ pid: String) -> Bool {
        guard let process = folder(ofProcess: pid),
            let state = try? String(contentsOfFile: "\(process)/stat", encoding: .utf8)
        else { return false }
        return !state.contains(") Z ")
    }
}
