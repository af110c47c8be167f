import FaultServer
import Foundation
import Sampling
import Testing
import VaultBase

/// Programs that run with packs in access.
@Suite(.timeLimit(.minutes(5))) struct AccessTests {
    let world: World

    init() async throws { world = try await .withTags() }

    /// The program inherits what keeps the access, and no key.
    @Test(arguments: [false, true]) func theProgramGetsNoKey(isRecorded: Bool) async throws {
        let file = world["vault/keys/vault.jwks"]
        let key = try world.text("vault/keys/vault.jwks")
        let script = #"env; for file in /proc/$$/fd/*; do echo "${file##*/} $(readlink "$file")"; done"#
        func run(_ spec: String, opening redirection: String) async throws -> String {
            let isOnline = ["--site", world.site, "--trust", world.root]
            let record = isRecorded ? ["--record", world["used by \(spec.prefix(4))"]] : []
            return try await world.run(
                "access level2 --keys \(spec) $STORE \(isOnline) \(record) -- sh -c \(script)",
                environment: ["THE_KEY": key, "OTHER": "stays"],
                through: Command.shell("exec \(redirection) 6<'\(world.root)'; exec \"$@\"")
            ).succeeded().text
        }
        for (spec, redirection) in [
            ("env:THE_KEY", "5</dev/null"), ("fd:5", "5<'\(file)'"), ("fd:0", "0<'\(file)'"),
        ] {
            let text = try await run(spec, opening: redirection)
            let lines = text.split(separator: "\n")
            if spec == "env:THE_KEY" { #expect(!text.contains("THE_KEY"), "\(text)") }
            #expect(!text.contains("vault.jwks"), "\(spec): \(text)")
            if spec == "fd:0" { #expect(lines.contains("0 /dev/null"), "\(text)") }
            // What is no secret stays, and so do the locks of the access.
            #expect(lines.contains("OTHER=stays") && text.contains("ASSETVAULT_RESOURCES="), "\(text)")
            #expect(lines.contains("6 \(world.root)"), "\(text)")
            #expect(lines.contains { $0.contains(" \(world.store)/") }, "\(spec): \(text)")
        }
    }

    /// What all programs have in access counts.
    @Test func theLimitOfWhatIsInAccess() async throws {
        try await world.access("level2", "level3", script: "true").succeeded()
        try await world.whileRunning(
            "access level2 --in-use 16 $STORE $KEYS -- sh -c \("echo begun; exec sleep 300")"
        ) { program in
            #expect(try await program.firstLine() == "begun")
            // A map of 5 bytes more; the texture of 5 is shared.
            for (limit, code) in [(15, 0), (14, 79)] as [(Int, Int32)] {
                let result = try await world.run("access level3 --in-use \(limit) $STORE $KEYS -- true")
                #expect(result.exitCode == code, "\(result.errorText)")
                guard code == 79 else { continue }
                #expect(
                    result.errorText.contains(
                        "10 are in access now: 'level2' with 10 in sh (\(program.processID))"))
                #expect(result.errorText.contains("; end the access to tags that are not needed\n"))
            }
            program.send(SIGKILL)
        }
        // Where nothing is in access, or too little, no end of another one helps.
        let alone = try await world.run("access level3 --in-use 9 $STORE $KEYS -- true")
        alone.failed(
            79, naming: "10 bytes would be in access, more than the limit of 9; raise the limit",
            "(--in-use BYTES)")
    }

    /// A program reads files by their names.
    @Test func sealedPacksAreRefused() async throws {
        try await world.fetch("--tag level2 --sealed").succeeded()
        let result = try await world.access("level2", script: "echo started", isOnline: false)
        let packs = "game/level2 game/level2.level3"
        result.failed(64, naming: "assetvault unlock \(packs) --store \(world.store) --keys SPEC --opened")
        #expect(result.text.isEmpty)
        // Nothing is downloaded for it, not even what is missing beside it.
        let server = try FaultServer(world.site)
        let online = try await world.run(
            "access level2 level3 --site \(server.url) $TRUST $STORE $KEYS -- sh -c \("echo started")")
        online.failed(64, naming: "assetvault unlock \(packs) --store \(world.store) --keys SPEC --opened")
        #expect(server.packs.isEmpty)
        try await world.run("unlock game/level2 game/level2.level3 --opened $STORE $KEYS").succeeded()
        #expect(try await world.access("level2", script: "echo started", isOnline: false).text == "started\n")
    }

    /// A host that fails in the middle of a refresh takes nothing away.
    @Test(arguments: ["snapshot", "targets"]) func anInterruptedRefresh(role: String) async throws {
        try await world.access("level2", script: "true").succeeded()
        try world.write("game/levels/2/map", "newer")
        try await world.publish()
        let failing = try FaultServer(world.site) {
            $0.path.hasSuffix("\(role).json") ? .hangUp : .file
        }
        #expect(try await world.fetch("--tag level2", from: failing.url).exitCode == 69)
        let result = try await world.access(
            "level2", script: "cat \"$ASSETVAULT_RESOURCES/levels/2/map\"", isOnline: false)
        #expect(result.text == "map 2", "\(result.errorText)")
    }

    /// Nothing that a program has in access goes, whatever else happens; when it was killed, it goes.
    @Test func aKilledProgramHoldsNothing() async throws {
        try await world.access("level3", script: "true").succeeded()
        let started = world["started"]
        try await world.whileRunning(
            "access level2 $STORE $KEYS --site $SITE $TRUST -- sh -c \("ls \"$ASSETVAULT_RESOURCES\" > '\(started)'; echo begun; exec sleep 300")"
        ) { program in
            #expect(try await program.firstLine() == "begun")
            let usage = try await world.usage()
            #expect(usage["level2"]?["inAccess"] == true)
            #expect(usage["level2"]?["processes"]?.elements?.first?["command"] == "sh")
            #expect(
                usage["level2"]?["processes"]?.elements?.first?["process"]?.number == Int64(program.processID)
            )
            #expect(usage["level3"]?["inAccess"] == false)
            #expect(try await world.purge() == ["level3"])
            // A newer version is put beside it.
            try world.write("game/levels/2/map", "newer")
            try await world.publish()
            try await world.fetch("--tag level2").succeeded()
            program.send(SIGKILL)
        }
        #expect(try await world.usage()["level2"]?["inAccess"] == false)
        let result = try await world.access("level2", script: "cat \"$ASSETVAULT_RESOURCES/levels/2/map\"")
        #expect(result.text == "newer")
        #expect(try await world.purge().sorted() == ["level2", "level2.level3"])
        // What the programs left is removed by the next command that looks.
        _ = try await world.usage()
        #expect(try world.files(in: "permanent").filter { $0.contains("@access") } == [])
    }

    /// The program has the access, also when what records its reads is killed; that process has no key in its environment.
    @Test func aKilledRecorder() async throws {
        try await world.access("level2", script: "true").succeeded()
        let key = try world.text("vault/keys/vault.jwks")
        let program = try await world.whileRunning(
            "access level2 --keys env:THE_KEY $STORE --record \(world["used"]) -- sh -c \("echo $$; exec sleep 300 >/dev/null 2>&1")",
            through: ["env", "THE_KEY=\(key)"]
        ) { recorder in
            let program = try #require(Int32(try await recorder.firstLine()))
            #expect(program != recorder.processID)
            for process in [program, recorder.processID] {
                let path = "/proc/\(process)/environ"
                // Where this user may not read it, nobody but the superuser may.
                guard let environment = try? Data(contentsOf: URL(filePath: path)) else { continue }
                #expect(!String(decoding: environment, as: UTF8.self).contains("THE_KEY"), "\(path)")
            }
            recorder.send(SIGKILL)
            try await wait(for: "its end") { hasEnded(recorder.processID) }
            return program
        }
        #expect(try await world.usage()["level2"]?["inAccess"] == true)
        #expect(try await world.purge() == [])
        #expect(kill(program, SIGKILL) == 0)
        try await wait(for: "its end") { try await world.usage()["level2"]?["inAccess"] == false }
        #expect(try await world.purge().sorted() == ["level2", "level2.level3"])
    }

    /// What the program started and left behind still reads the packs.
    @Test func theLastProcessEndsTheAccess() async throws {
        let result = try await world.access(
            "level2", script: "sleep 300 >/dev/null 2>&1 </dev/null & echo $!")
        let left = try #require(Int32(result.text.filter(\.isNumber)))
        #expect(try await world.usage()["level2"]?["inAccess"] == true)
        #expect(try await world.purge() == [])
        #expect(kill(left, SIGKILL) == 0)
        try await wait(for: "its end") { try await world.usage()["level2"]?["inAccess"] == false }
        #expect(try await world.purge().sorted() == ["level2", "level2.level3"])
    }

    /// Signals and descriptors are as in a program that was started by hand.
    @Test func theProgramStartsClean() async throws {
        let script = "grep -E 'SigIgn|SigBlk' /proc/self/status; ls /proc/self/fd | wc -l"
        let result = try await world.access("level2", script: script)
        let plain = try await Tool.run(["sh", "-c", script])
        let (lines, expected) = (result.text.split(separator: "\n"), plain.text.split(separator: "\n"))
        #expect(lines.prefix(2).map(signals) == expected.prefix(2).map(signals))
        let open = try #require(lines.last.flatMap { Int($0.filter(\.isNumber)) })
        let openByHand = try #require(expected.last.flatMap { Int($0.filter(\.isNumber)) })
        // The packs in access, the folder of links and the note.
        #expect(open <= openByHand + 6)
    }

    /// A set of signals, without those above 31, which the C library uses itself.
    private func signals(_ line: Substring) -> UInt64? {
        UInt64(line.split(separator: "\t").last ?? "", radix: 16).map { $0 & 0x7FFF_FFFF }
    }
}
