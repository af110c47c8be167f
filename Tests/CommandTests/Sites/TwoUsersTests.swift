import Foundation
import SealedPack
import SystemPackage
import Testing
import VaultBase

/// App and downloader as two users of one group: files of the downloader's user decide nothing in the app.
@Suite(.enabled(if: geteuid() == 0, "only root may run commands as other users"), .timeLimit(.minutes(3)))
struct TwoUsersTests {
    let world: World
    let app = 64_001
    let downloader = 64_002
    let group = 64_003

    /// Version 1 of a pack is published; `ephemeral/` and `shared/` are the group's, `permanent/` is the app's.
    init() async throws {
        world = try await World("level") {
            try $0.write("level/file", "version 1")
            try $0.write("level/noise", Bytes.random(300_000, seed: 1))
        }
        try await letRead()
        let own = "install -d -m"
        try await shell(
            """
            \(own) 755 -o \(app) -g \(group) '\(world.store)' '\(world.store)/permanent'
            \(own) 2770 -o \(downloader) -g \(group) '\(world.store)/ephemeral' '\(world.store)/shared'
            \(try copyCommand)
            install -m 600 -o \(app) '\(world["vault/keys/vault.jwks"])' '\(world["app.jwks"])'
            """)
    }

    /// The command, where both may run it. A debug build is large: it is copied where it can't be linked.
    private var copyCommand: String {
        get throws {
            let (command, copy) = ("'\(try Command.path)'", "'\(world["assetvault"])'")
            return """
                { [ "$(stat -c %a \(command))" = 755 ] && ln \(command) \(copy) 2>/dev/null; } ||
                    install -m 755 \(command) \(copy)
                """
        }
    }

    var keys: [String] { ["--keys", "file:\(world["app.jwks"])"] }

    func shell(_ script: String) async throws {
        try await Tool.run(Command.shell("set -e\n" + script)).succeeded()
    }

    func run(_ words: Words, as user: Int) async throws -> CommandResult {
        let start = ["setpriv", "--reuid=\(user)", "--regid=\(group)", "--clear-groups", world["assetvault"]]
        return try await Tool.run(start + words.list(world.variables))
    }

    func fetch(_ options: Words = "", withTrust: Bool = true) async throws -> CommandResult {
        try await run(
            "fetch $SITE $STORE \(withTrust ? ["--trust", world.root] : []) \(keys) \(options)", as: app)
    }

    func download() async throws -> CommandResult {
        try await run("downloader $SITE $STORE $TRUST --request install", as: downloader)
    }

    func publish(_ version: Int) async throws {
        try await world.publish(level: "version \(version)")
        try await letRead()
    }

    /// Everybody may read what is published.
    func letRead() async throws {
        try await Tool.run("chmod", "a+rX", world[""], world.vault, world.root).succeeded()
        try await Tool.run("chmod", "-R", "a+rX", world.site).succeeded()
    }

    /// The digest in the names of the published pack's files.
    func digest() throws -> String {
        let published = try world.publishedPack("level").split(separator: "/").last ?? ""
        return String(try #require(published.split(separator: ".").first))
    }

    func expectLoaded(_ version: Int, at location: SourceLocation = #_sourceLocation) async throws {
        let status = try await world.status()["level"]
        #expect(status?.state == "loaded" && status?.version == Int64(version), sourceLocation: location)
        #expect(
            try world.bytes("store/permanent/level/current/file") == Array("version \(version)".utf8),
            sourceLocation: location)
    }

    /// The downloader writes nothing in permanent storage; the app opens without asking the host again.
    @Test(arguments: ["unlock", "fetch", "sealed"]) func theyShareAStore(way: String) async throws {
        try await download().succeeded()
        #expect(try Tree("\(world.store)/permanent").entries.isEmpty)
        switch way {
        case "unlock":
            // The root that the downloader was given is not the app's.
            try await run("unlock level $STORE \(keys)", as: app).failed(76, naming: "level")
            try await run("unlock level $TRUST $STORE \(keys)", as: app).succeeded()
            try await expectLoaded(1)
        case "fetch":
            try await fetch().succeeded()
            try await expectLoaded(1)
        default:
            try await fetch("--sealed").succeeded()
            let owner = try await Tool.run(
                "stat", "-L", "-c", "%u", world["store/permanent/level/current"])
            #expect(owner.text == "\(app)\n", "a file of the downloader's could be changed by it")
        }
        #expect(try world.files(in: "shared/packs") == [])
        try await publish(2)
        try await download().succeeded()
        guard way == "unlock" else {
            try await fetch("--opened").succeeded()
            return try await expectLoaded(2)
        }
        // The unchanged file is in the app's tree alone.
        let used = try await Tool.run(
            Command.shell("stat -c %b '\(world.store)'/shared/packs/level/@*.avpack"))
        #expect(Int(used.text.dropLast()).map { $0 * 512 < 200_000 } == true, "\(used.text)")
        try await run("unlock level $STORE \(keys)", as: app).succeeded()
        try await expectLoaded(2)
        #expect(try Tree("\(world.store)/permanent/level/current") == Tree(world["level"]))
    }

    /// An old pack with a record that claims the newest possible metadata.
    @Test func aRolledBackPack() async throws {
        try await download().succeeded()
        try await shell("cp -a '\(world.store)/shared' '\(world["old"])'")
        try await fetch().succeeded()
        try await publish(2)
        try await fetch().succeeded()
        try await expectLoaded(2)
        try await shell(
            """
            rm -rf '\(world.store)/shared/packs' '\(world.store)/shared/@state'
            cp -a '\(world["old"])/packs' '\(world["old"])/@state' '\(world.store)/shared/'
            """)
        try claim("store/shared/@state/level/@record.json")
        try await fetch().succeeded()
        try await expectLoaded(2)
        _ = try await run("unlock $STORE \(keys)", as: app)
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
            "mkdir -p '\(world.store)/shared/@work'; touch '\(world.store)/shared/@work/.assetvault-0-0.tmp'"
        )
        try await fetch().succeeded()
        try await expectLoaded(1)
    }

    /// Another site's metadata in shared storage, its root and its pack sealed for the same key included.
    @Test func metadataOfAnotherSite() async throws {
        try await fetch().succeeded()
        let other = try await World()
        try await Tool.run(
            "cp", world["vault/keys/vault.jwks"], other["vault/keys/vault.jwks"]
        )
        .succeeded()
        try other.write("level/file", "evil")
        for _ in 0..<3 { try await other.publish("--pack level=\(other["level"])") }
        try await world.run(
            "downloader \(other.site) --store \(other.store) --trust \(other.root) --request install"
        ).succeeded()
        try await shell(
            """
            rm -rf '\(world.store)/shared/'@* '\(world.store)/shared/packs'
            cp -a '\(other.store)/shared/.' '\(world.store)/shared/'
            chown -R \(downloader):\(group) '\(world.store)/shared'; chmod -R g+rwX '\(world.store)/shared'
            """)
        _ = try await run("unlock $STORE \(keys)", as: app)
        try await expectLoaded(1)
        try await fetch(withTrust: false).succeeded()
        try await expectLoaded(1)
    }

    /// An app never opens a pack without its own root, whatever a downloader's metadata say.
    @Test func aRootPinnedByAnotherUser() async throws {
        try await download().succeeded()
        try await fetch(withTrust: false).failed(76, naming: "--trust")
        #expect(try await world.status()["level"]?.version == nil)
    }

    /// The pack is changed after the downloader verified it: it never becomes live, and is fetched again.
    @Test(arguments: [["--sealed"], []]) func aPackChangedWhileWaiting(form: [String]) async throws {
        try await download().succeeded()
        let waiting = try #require(try world.files(in: "shared/packs").first { $0.hasSuffix(".avpack") })
        try await shell(
            "printf 'sixteen bytes, x' | dd of='\(world.store)/shared/packs/\(waiting)' bs=1 seek=2000 conv=notrunc 2>/dev/null"
        )
        try await fetch("\(form)").succeeded()
        let status = try await world.status()["level"]
        #expect(status?.state == "loaded" && status?.version == 1)
        if form.isEmpty { try await expectLoaded(1) }
    }

    /// A link in place of a folder of shared storage: nothing is written, opened or removed behind it.
    @Test(arguments: ["packs", "packs/level"], ["permanent", "elsewhere"])
    func aLinkInSharedStorage(name: String, target: String) async throws {
        try await fetch().succeeded()
        let place = target == "permanent" ? world["store/permanent"] : world["victim"]
        try await shell(
            """
            install -d -o \(app) -g \(group) '\(world["victim"])' '\(world["victim/level"])'
            install -d -o \(app) -g \(group) '\(world["victim/level/@angular"])' '\(world["victim/@angular"])'
            rm -rf '\(world.store)/shared/packs'
            """)
        if name != "packs" {
            try await shell(
                "install -d -m 2770 -o \(downloader) -g \(group) '\(world.store)/shared/packs'")
        }
        let inner = name == "packs" ? place : "\(place)/level"
        try await shell("ln -s '\(inner)' '\(world.store)/shared/\(name)'")
        let (before, packs) = (try Tree(world["victim"]), try Tree("\(world.store)/permanent").packs)
        try await fetch().succeeded()
        _ = try await run("unlock $STORE \(keys)", as: app)
        #expect(try Tree("\(world.store)/permanent").packs == packs)
        try await publish(2)
        // Without a key it would wait there: that fails, and says where.
        let keyless = try await run("fetch $SITE $STORE --all", as: app)
        #expect(keyless.exitCode == 73 && keyless.errorText.contains("shared"), "\(keyless.errorText)")
        try await fetch().succeeded()
        try await expectLoaded(2)
        #expect(try Tree(world["victim"]) == before)
    }

    /// A link to a private file of the app in place of a waiting pack.
    @Test func aLinkToAPrivateFile() async throws {
        try await fetch().succeeded()
        try await publish(2)
        // With a record that says that it waits there: nobody tidies it away before it is looked at.
        try await download().succeeded()
        let waiting = try #require(try world.files(in: "shared/packs").first { $0.hasSuffix(".avpack") })
        try await shell(
            """
            install -d -m 700 -o \(app) '\(world["private"])'; echo secret > '\(world["private/file"])'
            chown \(app) '\(world["private/file"])'
            ln -sf '\(world["private/file"])' '\(world.store)/shared/packs/\(waiting)'
            """)
        try await fetch().succeeded()
        try await expectLoaded(2)
        #expect(try world.bytes("private/file") == Array("secret\n".utf8))
        #expect(try world.files(in: "ephemeral") == [])
    }

    /// A store with a pinned root of another site: `unlock` uses the given root.
    @Test func unlockUsesTheGivenRoot() async throws {
        let other = try await World("level")
        try await world.run("fetch \(other.site) --store \(other.store) --trust \(other.root) \(other.keys)")
            .succeeded()
        try await world.run("unlock --store \(other.store) $TRUST \(other.keys)").failed(76)
    }

    /// Changes a record, and lets it claim the highest possible listing version.
    private func claim(_ record: String, _ change: (inout JSONObject) -> Void = { _ in }) throws {
        try world.editRecord(record) {
            $0["rootVersion"] = .integer((1 << 53) - 1)
            $0["snapshotVersion"] = .integer((1 << 53) - 1)
            change(&$0)
        }
    }
}
