import Foundation
import SealedPack
import StrictJSON
import SystemPackage
import Testing
import VaultCrypto

/// App and downloader as two users of one group: files of the downloader's user decide nothing in the app.
@Suite(.enabled(if: geteuid() == 0, "only root may run commands as other users"), .timeLimit(.minutes(3)))
struct TwoUsersTests {
    let testSite: TestSite
    let folder: TemporaryFolder
    let app = 64_001
    let downloader = 64_002
    let group = 64_003

    /// Version 1 of a pack is published; `ephemeral/` and `shared/` are the group's, `permanent/` is the app's.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try folder.write("level/noise", Bytes.random(300_000, seed: 1))
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try await letRead()
        let own = "install -d -m"
        try await shell(
            """
            \(own) 755 -o \(app) -g \(group) '\(testSite.store)' '\(testSite.store)/permanent'
            \(own) 2770 -o \(downloader) -g \(group) '\(testSite.store)/ephemeral' '\(testSite.store)/shared'
            \(try copyCommand)
            install -m 600 -o \(app) '\(folder["vault/keys/vault.jwks"])' '\(folder["app.jwks"])'
            """)
    }

    /// The command, where both may run it. A debug build is large: it is copied where it can't be linked.
    private var copyCommand: String {
        get throws {
            let (command, copy) = ("'\(try Command.path)'", "'\(folder["assetvault"])'")
            return """
                { [ "$(stat -c %a \(command))" = 755 ] && ln \(command) \(copy) 2>/dev/null; } ||
                    install -m 755 \(command) \(copy)
                """
        }
    }

    var keys: [String] { ["--keys", "file:\(folder["app.jwks"])"] }

    func shell(_ script: String) async throws {
        try await Tool.run(Command.shell("set -e\n" + script)).succeeded()
    }

    func run(_ arguments: [String], as user: Int) async throws -> CommandResult {
        try await Tool.run(
            [
                "setpriv", "--reuid=\(user)", "--regid=\(group)", "--clear-groups", folder["assetvault"],
            ] + arguments)
    }

    func fetch(_ more: String..., withTrust: Bool = true) async throws -> CommandResult {
        let trust = withTrust ? ["--trust", testSite.root] : []
        return try await run(
            ["fetch", testSite.site, "--store", testSite.store] + trust + keys + more, as: app)
    }

    func download() async throws -> CommandResult {
        try await run(
            [
                "downloader", testSite.site, "--store", testSite.store, "--trust", testSite.root, "--request",
                "install",
            ], as: downloader)
    }

    func publish(_ version: Int) async throws {
        try folder.write("level/file", "version \(version)")
        try await testSite.publish()
        try await letRead()
    }

    /// Everybody may read what is published.
    func letRead() async throws {
        try await Tool.run("chmod", "a+rX", folder[""], testSite.vault, testSite.root).succeeded()
        try await Tool.run("chmod", "-R", "a+rX", testSite.site).succeeded()
    }

    func expectLoaded(_ version: Int, at location: SourceLocation = #_sourceLocation) async throws {
        let status = try await testSite.status()["level"]
        #expect(status?.state == "loaded" && status?.version == Int64(version), sourceLocation: location)
        #expect(
            try folder.bytes("store/permanent/level/current/file") == Array("version \(version)".utf8),
            sourceLocation: location)
    }

    /// The downloader writes nothing in permanent storage; the app opens without asking the host again.
    @Test(arguments: ["unlock", "fetch", "sealed"]) func theyShareAStore(way: String) async throws {
        try await download().succeeded()
        #expect(try Tree("\(testSite.store)/permanent").entries.isEmpty)
        let store = ["--store", testSite.store]
        switch way {
        case "unlock":
            // The root that the downloader was given is not the app's.
            try await run(["unlock", "level"] + store + keys, as: app).failed(76, naming: "level")
            try await run(["unlock", "level", "--trust", testSite.root] + store + keys, as: app)
                .succeeded()
            try await expectLoaded(1)
        case "fetch":
            try await fetch().succeeded()
            try await expectLoaded(1)
        default:
            try await fetch("--sealed").succeeded()
            let owner = try await Tool.run(
                "stat", "-L", "-c", "%u", folder["store/permanent/level/current"])
            #expect(owner.text == "\(app)\n", "a file of the downloader's could be changed by it")
        }
        #expect(try testSite.files(in: "shared/packs") == [])
        try await publish(2)
        try await download().succeeded()
        try await fetch("--opened").succeeded()
        try await expectLoaded(2)
    }

    /// An old pack with a record that claims the newest possible metadata.
    @Test func aRolledBackPack() async throws {
        try await download().succeeded()
        try await shell("cp -a '\(testSite.store)/shared' '\(folder["old"])'")
        try await fetch().succeeded()
        try await publish(2)
        try await fetch().succeeded()
        try await expectLoaded(2)
        try await shell(
            """
            rm -rf '\(testSite.store)/shared/packs' '\(testSite.store)/shared/@state'
            cp -a '\(folder["old"])/packs' '\(folder["old"])/@state' '\(testSite.store)/shared/'
            """)
        try claim("store/shared/@state/level/@record.json")
        try await fetch().succeeded()
        try await expectLoaded(2)
        _ = try await run(["unlock", "--store", testSite.store] + keys, as: app)
        try await expectLoaded(2)
        // The next publication is fetched as usual.
        try await publish(3)
        try await fetch().succeeded()
        try await expectLoaded(3)
    }

    /// A downloader's record that a pack was removed or is purgeable does not count for the app.
    @Test func aForgedRecord() async throws {
        try await download().succeeded()
        try await fetch().succeeded()
        let record = "store/shared/@state/level/@record.json"
        try claim(record) { json in
            json["removed"] = .bool(true)
            json["purgeable"] = .bool(true)
        }
        try await fetch().succeeded()
        try await expectLoaded(1)
        // Marks of work make the app look at everything.
        try await shell(
            "mkdir -p '\(testSite.store)/shared/@work'; touch '\(testSite.store)/shared/@work/.assetvault-0-0.tmp'"
        )
        try await fetch().succeeded()
        try await expectLoaded(1)
    }

    /// Another site's metadata in shared storage, its root and its pack sealed for the same key included.
    @Test func metadataOfAnotherSite() async throws {
        try await fetch().succeeded()
        let other = try await TestSite()
        try await Tool.run(
            "cp", testSite.folder["vault/keys/vault.jwks"], other.folder["vault/keys/vault.jwks"]
        )
        .succeeded()
        try other.folder.write("level/file", "evil")
        for _ in 0..<3 { try await other.publish("--pack", "level=\(other.folder["level"])") }
        try await Command.run(
            "downloader", other.site, "--store", other.store, "--trust", other.root, "--request", "install"
        ).succeeded()
        try await shell(
            """
            rm -rf '\(testSite.store)/shared/'@* '\(testSite.store)/shared/packs'
            cp -a '\(other.store)/shared/.' '\(testSite.store)/shared/'
            chown -R \(downloader):\(group) '\(testSite.store)/shared'; chmod -R g+rwX '\(testSite.store)/shared'
            """)
        _ = try await run(["unlock", "--store", testSite.store] + keys, as: app)
        try await expectLoaded(1)
        try await fetch(withTrust: false).succeeded()
        try await expectLoaded(1)
    }

    /// An app never opens a pack without its own root, whatever a downloader's metadata say.
    @Test func aRootPinnedByAnotherUser() async throws {
        try await download().succeeded()
        try await fetch(withTrust: false).failed(76, naming: "--trust")
        #expect(try await testSite.status()["level"]?.version == nil)
    }

    /// The pack is changed after the downloader verified it: it never becomes live, and is fetched again.
    @Test(arguments: [["--sealed"], []]) func aPackChangedWhileWaiting(form: [String]) async throws {
        try await download().succeeded()
        let waiting = try #require(try testSite.files(in: "shared/packs").first { $0.hasSuffix(".avpack") })
        try await shell(
            "printf x | dd of='\(testSite.store)/shared/packs/\(waiting)' bs=1 seek=2000 conv=notrunc 2>/dev/null"
        )
        try await run(
            ["fetch", testSite.site, "--store", testSite.store, "--trust", testSite.root] + keys + form,
            as: app
        ).succeeded()
        let status = try await testSite.status()["level"]
        #expect(status?.state == "loaded" && status?.version == 1)
        if form.isEmpty { try await expectLoaded(1) }
    }

    /// A link in place of a folder of shared storage: nothing is written, opened or removed behind it.
    @Test(arguments: ["packs", "packs/level"], ["permanent", "elsewhere"])
    func aLinkInSharedStorage(name: String, target: String) async throws {
        try await fetch().succeeded()
        let place = target == "permanent" ? folder["store/permanent"] : folder["victim"]
        try await shell(
            """
            install -d -o \(app) -g \(group) '\(folder["victim"])' '\(folder["victim/level"])'
            install -d -o \(app) -g \(group) '\(folder["victim/level/@angular"])' '\(folder["victim/@angular"])'
            rm -rf '\(testSite.store)/shared/packs'
            """)
        if name != "packs" {
            try await shell(
                "install -d -m 2770 -o \(downloader) -g \(group) '\(testSite.store)/shared/packs'")
        }
        let inner = name == "packs" ? place : "\(place)/level"
        try await shell("ln -s '\(inner)' '\(testSite.store)/shared/\(name)'")
        let (before, packs) = (try Tree(folder["victim"]), try Tree("\(testSite.store)/permanent").packs)
        try await fetch().succeeded()
        _ = try await run(["unlock", "--store", testSite.store] + keys, as: app)
        #expect(try Tree("\(testSite.store)/permanent").packs == packs)
        try await publish(2)
        // Without a key it would wait there: that fails, and says where.
        let keyless = try await run(
            ["fetch", testSite.site, "--store", testSite.store, "--all"], as: app)
        #expect(keyless.exitCode == 73 && keyless.errorText.contains("shared"), "\(keyless.errorText)")
        try await fetch().succeeded()
        try await expectLoaded(2)
        #expect(try Tree(folder["victim"]) == before)
    }

    /// A link to a private file of the app in place of a waiting pack.
    @Test func aLinkToAPrivateFile() async throws {
        try await fetch().succeeded()
        try await publish(2)
        // With a record that says that it waits there: nobody tidies it away before it is looked at.
        try await download().succeeded()
        let waiting = try #require(try testSite.files(in: "shared/packs").first { $0.hasSuffix(".avpack") })
        try await shell(
            """
            install -d -m 700 -o \(app) '\(folder["private"])'; echo secret > '\(folder["private/file"])'
            chown \(app) '\(folder["private/file"])'
            ln -sf '\(folder["private/file"])' '\(testSite.store)/shared/packs/\(waiting)'
            """)
        try await fetch().succeeded()
        try await expectLoaded(2)
        #expect(try folder.bytes("private/file") == Array("secret\n".utf8))
        #expect(try testSite.files(in: "ephemeral") == [])
    }

    /// A store with a pinned root of another site: `unlock` uses the given root.
    @Test func unlockUsesTheGivenRoot() async throws {
        let other = try await TestSite(publishing: ["level"])
        try await Command.run(
            ["fetch", other.site, "--store", other.store, "--trust", other.root] + other.keys
        ).succeeded()
        try await Command.run(
            ["unlock", "--store", other.store, "--trust", testSite.root] + other.keys
        ).failed(76)
    }

    /// Changes a record, and lets it claim the highest possible listing version.
    private func claim(_ record: String, _ change: (inout JSONObject) -> Void = { _ in }) throws {
        var json: JSONObject = try folder.json(record)
        json["rootVersion"] = .integer((1 << 53) - 1)
        json["snapshotVersion"] = .integer((1 << 53) - 1)
        change(&json)
        json["checksum"] = nil
        json["checksum"] = .string(SHA256.hash(JSONValue.object(json).canonical().span).hex)
        try folder.write(record, JSONValue.object(json).canonical())
    }
}
