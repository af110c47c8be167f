import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultCrypto

@Suite("Key commands") struct CommandProviderTests {
    let folder: TestFolder
    let key = SampleKey(value: 7)

    init() throws {
        folder = try TestFolder()
        try folder.write(key.vaultJWK("one"), to: "ring")
    }

    /// A shell script as the command; `$DIR` is the test's folder.
    func command(_ script: String, arguments: [String] = [], deadline: Duration = .seconds(60)) throws
        -> CommandKeyProvider
    {
        let file = try folder.write("DIR=\(folder.path)\n\(script)\n", to: "script")
        return CommandKeyProvider(
            executable: "/bin/sh", arguments: [file.string] + arguments, deadline: deadline)
    }

    func content(of name: String) throws -> String {
        try String(contentsOfFile: folder.path.appending(name).string, encoding: .utf8)
    }

    @Test("the ID is the last argument, nothing is expanded, and standard input is empty")
    func arguments() async throws {
        let provider = try command(
            #"printf '%s\n' "$@" > $DIR/seen; cat; cat $DIR/ring"#, arguments: ["$HOME", ";*"])
        #expect(try await provider.keys(for: KeyID("one")).ids == ["one"])
        #expect(try content(of: "seen") == "$HOME\n;*\none\n")
        #expect(try await provider.allKeys().ids == ["one"])
        #expect(try content(of: "seen") == "$HOME\n;*\n")
    }

    @Test("an ID that the command could parse as an option is never passed")
    func option() async throws {
        let provider = try command("touch $DIR/ran; cat $DIR/ring")
        for id in ["-", "-x", "--help"] { #expect(try await provider.keys(for: KeyID(id)).isEmpty) }
        #expect(!FileManager.default.fileExists(atPath: folder.path.appending("ran").string))
    }

    @Test("a SPEC is split at spaces, without a shell")
    func spec() async throws {
        let script = try folder.write(
            "printf '%s\\n' \"$@\" > \(folder.path)/seen; cat \(folder.path)/ring", to: "s")
        let provider = try KeySpec(parsing: "exec:sh  \(script) 'a b' `id`").provider()
        #expect(try await provider.keys(for: KeyID("one")).ids == ["one"])
        #expect(try content(of: "seen") == "'a\nb'\n`id`\none\n")
    }

    @Test("empty output with status 0 means that there is no such key")
    func silence() async throws {
        #expect(try await command("exit 0").keys(for: KeyID("one")).isEmpty)
        #expect(try await command("echo").keys(for: KeyID("one")).isEmpty)
    }

    @Test("keys with other IDs are ignored")
    func otherKey() async throws {
        #expect(try await command("cat $DIR/ring").keys(for: KeyID("two")).isEmpty)
    }

    @Test("a set answers for all of its keys: the command runs once, also for lookups at the same time")
    func oneRun()
        async throws
    {
        try folder.write(
            jwkSet(key.vaultJWK("one"), key.vaultJWK("two"), key.vaultJWK("three")), to: "set")
        let provider = CachingKeyProvider(try command(#"echo "$1" >> $DIR/runs; sleep 0.1; cat $DIR/set"#))
        try await withThrowingTaskGroup(of: [String].self) { group in
            for id in ["one", "two", "three", "one"] {
                group.addTask { try await provider.keys(for: KeyID(id)).ids }
            }
            for try await ids in group { #expect(ids.count == 1) }
        }
        #expect(try content(of: "runs").split(separator: "\n").count == 1)
        // What was once used is asked for again, when the cache is told to.
        await provider.forgetAnswers()
        _ = try await provider.keys(for: KeyID("two"))
        #expect(try content(of: "runs").split(separator: "\n").count == 2)
    }

    @Test("a command that gives one key at a time runs once for each") func oneRunForEach() async throws {
        let provider = CachingKeyProvider(
            try command(#"echo "$1" >> $DIR/runs; test "$1" != one || cat $DIR/ring"#))
        for id in ["one", "two", "one", "two"] { _ = try await provider.keys(for: KeyID(id)) }
        #expect(try content(of: "runs") == "one\ntwo\n")
    }

    @Test("the output of a failed command is ignored")
    func fails() async throws {
        let provider = try command("cat $DIR/ring; exit 3")
        let error = await failure { _ = try await provider.keys(for: KeyID("one")) }
        #expect(error?.category == .key)
        #expect(error?.problem == "the command failed with status 3")
        let killed = await failure { _ = try await command("kill -9 $$").allKeys() }
        #expect(killed?.problem == "the command was killed")
    }

    @Test(
        "a command that isn't there", arguments: ["/nowhere/assetvault-no-command", "assetvault-no-command"])
    func absent(_ executable: String) async throws {
        let provider = CommandKeyProvider(executable: executable, arguments: ["--token", "hunter2"])
        let error = await failure { _ = try await provider.allKeys() }
        #expect(error?.category == .key)
        #expect(error?.place == "command \(executable)")
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test("a command that exceeds the deadline is terminated")
    func late() async throws {
        // On a busy machine a short deadline may end before the command says who it is.
        for deadline: Duration in [.milliseconds(300), .seconds(3), .seconds(30)] {
            let provider = try command("echo $$ > $DIR/pid; exec sleep 600", deadline: deadline)
            let error = await failure { _ = try await provider.allKeys() }
            #expect(error?.category == .key)
            #expect(error?.problem.contains("no answer within") == true)
            let said = (try? content(of: "pid")) ?? ""
            guard let process = Int32(said.dropLast()) else { continue }
            #expect(kill(process, 0) == -1, "the command still runs")
            return
        }
        Issue.record("the command did not run within any deadline")
    }

    @Test("output is limited")
    func endless() async throws {
        for (end, problem) in [("exit 1", "failed with status 1"), ("exit 0", "more than a pipe holds")] {
            let error = await failure {
                _ = try await command("cat $DIR/ring; yes '' 2>&-; \(end)").allKeys()
            }
            #expect(error?.category == .key)
            #expect(error?.problem.contains(problem) == true)
        }
    }

    @Test("output up to the capacity of a pipe is complete")
    func long() async throws {
        let provider = try command("head -c 60000 /dev/zero | tr '\\0' ' '; cat $DIR/ring")
        #expect(try await provider.allKeys().vaultKeyBytes == [key.bytes])
    }

    @Test("a background process that keeps the output open does not block")
    func leftBehind() async throws {
        let provider = try command("sleep 600 & echo $! > $DIR/pid; cat $DIR/ring")
        #expect(try await provider.allKeys().ids == ["one"])
        let process = try #require(Int32(try content(of: "pid").dropLast()))
        #expect(kill(process, SIGKILL) == 0, "the answer came only after that process had ended")
    }

    @Test("the environment is inherited, other file descriptors are not")
    func surroundings() async throws {
        let pipe = Pipe()
        let number = fcntl(pipe.fileHandleForReading.fileDescriptor, F_DUPFD, 100)
        defer { close(number) }
        let provider = try command(#"test -n "$PATH" && test ! -e /proc/self/fd/\#(number) && cat $DIR/ring"#)
        #expect(try await provider.allKeys().ids == ["one"])
    }
}
