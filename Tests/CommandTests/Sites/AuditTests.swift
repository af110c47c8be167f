import FaultServer
import TestFiles
import Testing

/// `audit` as a process; its findings have tests of their own.
struct AuditTests {
    let world: World

    init() async throws { world = try await World(level: "content") }

    /// A pack of other keys is not reported as damaged.
    @Test func packsOfOtherKeysAreLocked() async throws {
        try await world.run("keygen -o $WORK/wrong.jwks").succeeded()
        let locked = try await world.run("audit $SITE $TRUST --keys file:$WORK/wrong.jwks")
        #expect(locked.exitCode == 77)
        let line = locked.text.split(separator: "\n").first { $0.hasPrefix("LOCKED") }
        #expect(line?.contains("level") == true, "\(locked.text)")
        #expect(!locked.text.contains("BAD"))
        #expect(locked.errorText.contains("level"), "\(locked.errorText)")

        let open = try await world.run("audit $SITE $TRUST $KEYS").succeeded()
        #expect(open.text.contains("opened and verified with keys: 1 file") && !open.text.contains("LOCKED"))
    }

    @Test func damageIsReportedWithAWrongKey() async throws {
        try await world.run("keygen -o $WORK/wrong.jwks").succeeded()
        let name = "vault/site/\(try world.publishedPack("level"))"
        try world.flipBit(of: name, at: world.bytes(name).count / 2)
        let result = try await world.run("audit $SITE $TRUST --keys file:$WORK/wrong.jwks")
        #expect(result.exitCode == 65)
        #expect(result.text.contains("BAD") && !result.text.contains("LOCKED"), "\(result.text)")
    }

    /// A host that answers what it does not have with the page of its app, and one that is not there.
    @Test func hostsThatAreNone() async throws {
        let page = Array("\n<!DOCTYPE html><html><body>The game</body></html>".utf8)
        let host = try FaultServer(world.site) { request in
            request.path.contains("2.root.json") ? .bytes(page, length: page.count) : .file
        }
        let nobody = try ListeningSocket()
        nobody.stop()
        for (url, code, problem) in [
            (host.url, Int32(69), "a web page instead of the file"),
            ("http://127.0.0.1:\(nobody.port)", 68, "can't reach 127.0.0.1"),
        ] {
            let audit = try await world.run("audit \(url) $TRUST")
            #expect(audit.exitCode == code && audit.errorText.contains(problem), "\(audit.errorText)")
            #expect(audit.text.contains("not verified, because its host could not be read"), "\(audit.text)")
            for text in [audit.text, audit.errorText] {
                #expect(!text.contains("not trusted") && !text.contains("owner must"), "\(text)")
            }
            let list = try await world.run("list \(url) $TRUST")
            list.failed(code, naming: problem)
            try await world.fetch(from: url).failed(code, naming: problem)
        }
    }
}
