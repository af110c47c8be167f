import Foundation
import Sampling
import Testing
import VaultBase

/// Two concurrent publishers of one vault.
@Suite(.timeLimit(.minutes(5))) struct SeveralPublishersTests {
    let world: World

    init() async throws {
        world = try await World()
        for name in ["one", "two"] { try world.write("\(name)/file", name) }
    }

    private func publish(_ name: String) async throws -> CommandResult {
        try await world.run("publish $VAULT --pack \(name)=$WORK/\(name)")
    }

    /// Runs `body` while the pack `one` is published, which waits for its key.
    private func whilePublishing(_ body: () async throws -> Void) async throws {
        try world.write(
            "key.sh",
            """
            #!/bin/sh
            : > '\(world["started"])'
            until [ -e '\(world["go"])' ]; do sleep 0.02; done
            cat '\(world["vault/keys/vault.jwks"])'
            """, permissions: 0o755)
        async let winner = world.run("publish $VAULT --pack one=$WORK/one --keys exec:$WORK/key.sh")
        do {
            defer { _ = try? world.write("go", "") }
            try await wait(for: "the key") { try world.exists("started") }
            try await body()
        }
        try await winner.succeeded()
    }

    private func expectBothAreThere() async throws {
        let packs = try #require(try world.json("vault/vault.json")["packs"]?.members)
        #expect(packs.keys.sorted() == ["one", "two"])
        try await world.fetch().succeeded()
        try await world.expectLoaded("one", "two")
    }

    /// One waits for its key while the other starts.
    @Test func theSecondPublisherIsBusy() async throws {
        try await whilePublishing {
            try await world.refuses("publish $VAULT --pack two=$WORK/two", 75, naming: world.vault)
            try await world.refuses("publish $VAULT", 75, naming: world.vault)
        }
        try await publish("two").succeeded()
        try await expectBothAreThere()
    }

    /// While somebody publishes, nobody else changes the vault.
    @Test func changesOfTrust() async throws {
        let key = try await world.makeKey("colleague").publicKey
        try await publish("one").succeeded()
        try await whilePublishing {
            for words in [
                "refresh $VAULT", "rotate $VAULT root", "add-key $VAULT targets \(key)",
                "threshold $VAULT root 2", "remove-key $VAULT root 01234567",
            ] as [Words] { try await world.refuses("trust \(words)", 75, naming: world.vault) }
            try await world.run("restore $VAULT one --latest").failed(75)
            try await world.run("prune $VAULT").failed(75)
        }
        try await world.trust("refresh").succeeded()
    }

    /// One has read the settings and waits for the lock while the other declares a pack.
    @Test func noDeclarationIsLost() async throws {
        let pid = world["pid"]
        let wrapper =
            Sandbox.injecting("delay_enter=600000000", into: "flock", number: 1)
            + Command.shell("echo $$ > '\(pid)'; exec \"$@\"")
        try await world.whileRunning("publish $VAULT --pack two=$WORK/two", through: wrapper) { strace in
            try await wait(for: "the lock's file") { holdsTheLockFile(pid) }
            try await publish("one").succeeded()
            // Lets it go on.
            strace.send(SIGKILL)
            let process = try #require(pid_t(world.text("pid").dropLast()))
            try await wait(for: "its end") { hasEnded(process) }
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
}
