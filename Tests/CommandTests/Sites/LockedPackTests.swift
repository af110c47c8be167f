import FaultServer
import Foundation
import Testing

/// Packs that are sealed for other keys: they wait, which is not a failure.
struct LockedPackTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    let server: FaultServer
    private let others: [String]

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        for name in ["start", "later", "asked"] { try folder.write("\(name)/file", name) }
        try folder.write(
            "vault/vault.json",
            """
            {"format": 1, "packs": {
              "start": {"source": "../start", "policy": "essential"},
              "later": {"source": "../later", "policy": "prefetch"},
              "asked": {"source": "../asked", "policy": "onDemand"}}}
            """)
        try await testSite.publish()
        server = try FaultServer(testSite.site)
        try await Command.run("keygen", "-o", folder["other.jwks"]).succeeded()
        others = ["--keys", "file:\(folder["other.jwks"])"]
    }

    private func keyID(_ name: String) throws -> String {
        try #require(try folder.json(name)["keys"]?.elements?.first?["kid"]?.text)
    }

    private func fetch(_ arguments: String...) async throws -> CommandResult {
        try await Command.run(
            ["fetch", server.url, "--store", testSite.store, "--trust", testSite.root] + others + arguments)
    }

    /// Without packs that are listed only.
    private func states() async throws -> [String: String] {
        try await testSite.status().mapValues(\.state).filter { $0.value != "absent" }
    }

    /// Each is reported in one line, which names the keys that it is sealed for and those that were given.
    @Test func nothingIsDownloadedUnasked() async throws {
        let result = try await fetch().succeeded()
        #expect(try await states().isEmpty && server.packs.isEmpty)
        let lines = result.errorText.split(separator: "\n")
        #expect(lines.count == 2, "\(lines)")
        for (line, start) in zip(
            lines.sorted(), ["locked  later: not downloaded", "locked  start: not downloaded"])
        {
            #expect(line.hasPrefix(start), "\(line)")
            #expect(line.contains(try keyID("vault/keys/vault.jwks")), "\(line)")
            #expect(line.contains(try keyID("other.jwks")), "\(line)")
        }
        // What is named comes, and waits; a second fetch requests nothing.
        try await fetch("start").succeeded()
        #expect(try await states() == ["start": "toBeTransferred"])
        let asked = server.packs.count
        #expect(try await fetch().succeeded().errorText.split(separator: "\n").count == 2)
        #expect(server.packs.count == asked)
        // With the right key a waiting pack needs no download.
        try await testSite.fetch(server.url, "start").succeeded()
        #expect(server.packs.count == asked)
        #expect(try await testSite.tree(of: "start") == Tree(folder["start"]))
        #expect(try testSite.files(in: "shared").filter { $0.hasSuffix(".avpack") } == [])
    }

    @Test(arguments: [
        (["later"], ["later"]), (["asked"], ["asked"]), (["--all"], ["asked", "later", "start"]),
        (["--preload"], ["later", "start"]),
    ]) func namedPacksAreDownloaded(arguments: [String], waiting: [String]) async throws {
        let result = try await Command.run(
            ["fetch", server.url, "--store", testSite.store, "--trust", testSite.root] + others + arguments
        ).succeeded()
        #expect(
            try await states() == Dictionary(uniqueKeysWithValues: waiting.map { ($0, "toBeTransferred") }))
        #expect(!result.errorText.contains("locked"), "\(result.errorText)")
    }

    /// For scripts that need all packs.
    @Test func strictFailsOnLockedPacks() async throws {
        let result = try await fetch("--strict")
        #expect(result.exitCode == 77 && result.output == [])
        let last = try #require(result.errorText.split(separator: "\n").last)
        #expect(last.hasPrefix("assetvault: "))
        for name in ["vault/keys/vault.jwks", "other.jwks"] { #expect(last.contains(try keyID(name))) }
        #expect(try await states().isEmpty)
        #expect(try await testSite.fetch(nil, "--strict", withKeys: false).exitCode == 77)
        try await testSite.fetch(nil, "--strict").succeeded()
    }

    /// A pack that came without its key opens with the right one, also after a wrong one.
    @Test func theRightKeyNeedsNoDownload() async throws {
        try await fetch("later").succeeded()
        #expect(try testSite.files(in: "ephemeral") == [])
        let failing = try FaultServer(testSite.site) { $0.isForPack ? .status(404) : .file }
        let later = ["fetch", failing.url, "later", "--store", testSite.store]
        try await Command.run(later + others).succeeded()
        try await Command.run(later).succeeded()
        #expect(try await states() == ["later": "toBeTransferred"])
        try await Command.run("unlock", "--store", testSite.store, others[0], others[1]).failed(
            77, naming: "later", try keyID("other.jwks"))
        #expect(try await states() == ["later": "toBeTransferred"])
        try await Command.run(later + testSite.keys).succeeded()
        #expect(failing.packs.isEmpty)
        #expect(try await states() == ["later": "loaded"])
    }

    /// An unreadable key source is a failure, and so is a wrong key under the right ID.
    @Test func wrongAndUnreadableKeysAreFailures() async throws {
        try await Command.run(
            "fetch", server.url, "--store", testSite.store, "--trust", testSite.root, "--keys",
            "env:NOT_SET_ANYWHERE"
        ).failed(77, naming: "NOT_SET_ANYWHERE")
        let wrong = String(decoding: try folder.bytes("other.jwks"), as: UTF8.self)
            .replacingOccurrences(of: try keyID("other.jwks"), with: try keyID("vault/keys/vault.jwks"))
        let path = try folder.write("same-id.jwks", Array(wrong.utf8), permissions: 0o600)
        try await Command.run(
            "fetch", server.url, "start", "--store", testSite.store, "--keys", "file:\(path)"
        )
        .failed(77, naming: "start", "does not unwrap")
        #expect(try await states()["start"] == "failed")
    }

    /// `--wait` asks the source again until the key is there.
    @Test func aKeyThatArrivesWhileItIsAwaited() async throws {
        try await testSite.fetch(withKeys: false).succeeded()
        let key = folder["late.jwks"]
        async let unlocked = Command.run(
            "unlock", "--store", testSite.store, "--keys", "file:\(key)", "--wait", "60")
        try await Task.sleep(for: .seconds(1))
        try FileManager.default.copyItem(atPath: folder["vault/keys/vault.jwks"], toPath: key)
        let result = try await unlocked.succeeded()
        #expect(result.errorText.contains("start"), "\(result.errorText)")
    }
}
