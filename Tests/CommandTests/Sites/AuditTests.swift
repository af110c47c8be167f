import FaultServer
import Testing

/// `audit` as a process; its findings have tests of their own.
struct AuditTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "content")
        try await testSite.publish("--pack", "level=\(folder["level"])")
    }

    /// A pack of other keys is not reported as damaged.
    @Test func packsOfOtherKeysAreLocked() async throws {
        try await Command.run("keygen", "-o", folder["wrong.jwks"]).succeeded()
        let audit = ["audit", testSite.site, "--trust", testSite.root, "--keys"]
        let locked = try await Command.run(audit + ["file:\(folder["wrong.jwks"])"])
        #expect(locked.exitCode == 77)
        let line = locked.text.split(separator: "\n").first { $0.hasPrefix("LOCKED") }
        #expect(line?.contains("level") == true, "\(locked.text)")
        #expect(!locked.text.contains("BAD"))
        #expect(locked.errorText.contains("level"), "\(locked.errorText)")

        let open = try await Command.run(audit + ["file:\(folder["vault/keys/vault.jwks"])"]).succeeded()
        #expect(open.text.contains("1 entry verified") && !open.text.contains("LOCKED"))
    }

    @Test func damageIsReportedWithAWrongKey() async throws {
        try await Command.run("keygen", "-o", folder["wrong.jwks"]).succeeded()
        let name = "vault/site/\(try testSite.publishedPack("level"))"
        var bytes = try folder.bytes(name)
        bytes[bytes.count / 2] ^= 1
        try folder.write(name, bytes)
        let result = try await Command.run(
            "audit", testSite.site, "--trust", testSite.root, "--keys", "file:\(folder["wrong.jwks"])")
        #expect(result.exitCode == 65)
        #expect(result.text.contains("BAD") && !result.text.contains("LOCKED"), "\(result.text)")
    }

    /// A host that answers what it does not have with the page of its app, and one that is not there.
    @Test func hostsThatAreNone() async throws {
        let page = Array("\n<!DOCTYPE html><html><body>The game</body></html>".utf8)
        let host = try FaultServer(testSite.site) { request in
            request.path.contains("2.root.json") ? .bytes(page, length: page.count) : .file
        }
        let port = try ListeningSocket().port
        for (url, code, problem) in [
            (host.url, Int32(69), "a web page instead of the file"),
            ("http://127.0.0.1:\(port)", 68, "can't reach 127.0.0.1"),
        ] {
            let audit = try await Command.run("audit", url, "--trust", testSite.root)
            #expect(audit.exitCode == code && audit.errorText.contains(problem), "\(audit.errorText)")
            #expect(audit.text.contains("not verified, because its host could not be read"), "\(audit.text)")
            for text in [audit.text, audit.errorText] {
                #expect(!text.contains("not trusted") && !text.contains("owner must"), "\(text)")
            }
            let list = try await Command.run("list", url, "--trust", testSite.root)
            list.failed(code, naming: problem)
            try await testSite.fetch(url).failed(code, naming: problem)
        }
    }
}
