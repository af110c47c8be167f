import Foundation
import StrictJSON
import Testing

/// Uploads to real destinations: into a folder, through rclone, through rsync.
struct UploadTests {
    let testSite: TestSite
    let folder: TemporaryFolder

    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        try folder.write("music/file", "a tune")
        try await testSite.publish("--pack", "level=\(folder["level"])", "--pack", "music=\(folder["music"])")
    }

    private func publish(version: Int) async throws {
        try folder.write("level/file", "version \(version)")
        try await testSite.publish()
    }

    private func expectSound(_ host: UploadHost) async throws {
        try await Command.run("audit", host.folder, "--trust", testSite.root).succeeded()
        try await testSite.fetch(host.folder).succeeded()
        #expect(try await testSite.tree(of: "level") == Tree(folder["level"]))
    }

    @Test(arguments: UploadHost.Way.allCases) func intoNothing(way: UploadHost.Way) async throws {
        let host = try UploadHost(of: testSite, by: way)
        let dry = try await host.upload(nil, "--dry-run", "--json")
        #expect(try !folder.exists("host"))
        let sent = try await host.upload(nil, "--json")
        #expect(try UploadHost.sent(dry) == UploadHost.sent(sent))
        let files = try UploadHost.sent(sent)
        #expect(
            files.suffix(4) == [
                "metadata/1.targets.json", "metadata/1.snapshot.json", "metadata/1.root.json",
                "metadata/timestamp.json",
            ])
        #expect(files.count == 6)
        #expect(try sent.json()["bytes"]?.number == dry.json()["bytes"]?.number)
        #expect(try host.content() == Tree(testSite.site))
        // A web server of another account reads them.
        for file in files {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(host.folder)/\(file)")
            let mode = try #require(attributes[.posixPermissions] as? Int)
            #expect(mode & 0o444 == 0o444, "\(file)")
        }
        try await expectSound(host)

        // The roots last, as other tools upload, and interrupted before them.
        try FileManager.default.removeItem(atPath: folder["host/metadata/1.root.json"])
        #expect(try UploadHost.sent(await host.upload(nil, "--json")) == ["metadata/1.root.json"])
        try await host.isUnchanged {
            let again = try await host.upload().succeeded()
            #expect(again.text == "nothing to send; timestamp version 1, as before\n", "\(again.text)")
        }
        try await publish(version: 2)
        let update = try await host.upload().succeeded()
        #expect(update.text.hasPrefix("sent 4 files, "), "\(update.text)")
        #expect(update.text.hasSuffix(" bytes; timestamp version 2, after 1\n"), "\(update.text)")
        #expect(try host.content() == Tree(testSite.site))
        try await expectSound(host)
    }

    /// CI has published five times since; a machine that kept its vault uploads.
    @Test(arguments: UploadHost.Way.allCases) func aStaleVault(way: UploadHost.Way) async throws {
        let host = try UploadHost(of: testSite, by: way)
        try await publish(version: 2)
        try await host.upload().succeeded()
        for version in 3...7 {
            try folder.write("level/file", "version \(version)")
            let runner = try await Runner(of: testSite, named: "runner-\(version)")
            try await runner.publish(host.folder).succeeded()
            try await host.upload(runner.site).succeeded()
        }
        try await host.isUnchanged {
            for option in [[], ["--dry-run"]] {
                let refused = try await Command.run(["upload", testSite.site, host.destination] + option)
                refused.failed(76, naming: "version 2", "version 7", "publish again with --against")
            }
        }
        try await expectSound(host)
    }

    /// A timestamp behind a link is the host's all the same.
    @Test(arguments: UploadHost.Way.allCases) func aLinkedTimestamp(way: UploadHost.Way) async throws {
        let host = try UploadHost(of: testSite, by: way)
        try await Tool.run("cp", "-a", testSite.vault, folder["stale"])
        try await publish(version: 2)
        try await host.upload().succeeded()
        try await Tool.run("mv", folder["host/metadata/timestamp.json"], folder["elsewhere.json"])
        try await Tool.run("ln", "-s", folder["elsewhere.json"], folder["host/metadata/timestamp.json"])
        try await host.isUnchanged {
            try await host.upload(folder["stale/site"]).failed(76, naming: "version 1", "version 2")
        }
        // Files of the site may be links, too.
        try await publish(version: 3)
        let pack = try testSite.publishedPack("level")
        try await Tool.run("mv", "\(testSite.site)/\(pack)", folder["elsewhere.avpack"])
        try await Tool.run("ln", "-s", folder["elsewhere.avpack"], "\(testSite.site)/\(pack)")
        try await host.upload().succeeded()
        try await expectSound(host)
    }

    /// Without its timestamp a host is no new one: other files there show what clients have seen.
    @Test(arguments: UploadHost.Way.allCases) func aTimestampThatIsGone(way: UploadHost.Way) async throws {
        let host = try UploadHost(of: testSite, by: way)
        try await Tool.run("cp", "-a", testSite.vault, folder["stale"])
        try await publish(version: 2)
        try await host.upload().succeeded()
        try FileManager.default.removeItem(atPath: folder["host/metadata/timestamp.json"])
        try await host.isUnchanged {
            try await host.upload(folder["stale/site"]).failed(
                76, naming: "2.snapshot.json", "no timestamp any more")
        }
        try await host.upload().succeeded()
        try await expectSound(host)
        // Something in its place is not overwritten.
        try FileManager.default.removeItem(atPath: folder["host/metadata/timestamp.json"])
        try await Tool.run("mkfifo", folder["host/metadata/timestamp.json"])
        guard way != .rclone else { return }
        let refused = try await host.upload(folder["stale/site"])
        #expect([69, 76].contains(refused.exitCode), "\(refused.errorText)")
        #expect(refused.errorText.contains("timestamp.json"), "\(refused.errorText)")
    }

    /// What was pruned at the host is not sent again, such as slots for a leaked key.
    @Test func prunedFilesStayAway() async throws {
        let host = try UploadHost(of: testSite, by: .folder)
        for version in 2...4 {
            try await publish(version: version)
            try await host.upload().succeeded()
        }
        try await Command.run(
            "prune", host.folder, "--trust", testSite.root, "--keep", "1", "--grace", "0d",
            through: Clock.shifted(byDays: 41)
        ).succeeded()
        let pruned = try host.content()
        #expect(!pruned.files.contains { $0.contains("2.targets.json") })
        // Two versions, of which the first is kept for a rollback.
        try await publish(version: 5)
        try await publish(version: 6)
        let sent = try UploadHost.sent(await host.upload(nil, "--json"))
        #expect(sent.contains("metadata/5.targets.json"))
        #expect(sent.count == 7, "\(sent)")
        try await expectSound(host)
        try await Command.run("restore", testSite.vault, "level", "--version", "5", "--against", host.folder)
            .succeeded()
    }

    /// A vault that does not know the newest root is refused, also with a higher timestamp.
    @Test func anOlderRoot() async throws {
        let host = try UploadHost(of: testSite, by: .folder)
        try await Tool.run("cp", "-a", testSite.vault, folder["stale"])
        try await Command.run("trust", "rotate", testSite.vault, "targets").succeeded()
        try await host.upload().succeeded()
        for version in 2...4 {
            try folder.write("level/file", "version \(version)")
            try await Command.run("publish", folder["stale"]).succeeded()
        }
        try await host.isUnchanged {
            try await host.upload(folder["stale/site"]).failed(
                76, naming: "newest root is version 1", "version 2")
        }
    }

    /// A runner's site has new files only. What it does not have must be at the host.
    @Test(arguments: UploadHost.Way.allCases) func aRunnersSite(way: UploadHost.Way) async throws {
        let host = try UploadHost(of: testSite, by: way)
        try await host.upload().succeeded()
        try folder.write("level/file", "version 2")
        let runner = try await Runner(of: testSite)
        try await runner.publish(host.folder).succeeded()
        let music = try testSite.publishedPack("music")
        let kept = try folder.bytes("host/\(music)")
        try folder.write("host/\(music)", Array(kept.dropLast()))
        try await host.isUnchanged {
            try await host.upload(runner.site).failed(65, naming: "neither the site nor the destination has")
        }
        try folder.write("host/\(music)", kept)
        #expect(try UploadHost.sent(await host.upload(runner.site, "--json")).count == 4)
        try await expectSound(host)

        // A timestamp alone, as a machine writes it that renews it.
        try await Tool.run("cp", "-a", testSite.vault, folder["cron"])
        try await Tool.run("rm", "-r", folder["cron/site"])
        try await Tool.run("cp", "-a", host.folder, folder["cron/site"])
        try await Command.run("trust", "refresh", folder["cron"]).succeeded()
        try await Tool.run(
            "find", folder["cron/site"], "-type", "f", "!", "-name", "timestamp.json", "-delete")
        let refreshed = try await host.upload(folder["cron/site"], "--json")
        #expect(try UploadHost.sent(refreshed) == ["metadata/timestamp.json"])
        try await expectSound(host)
    }

    /// A root that needs no other signature is published alone, and uploaded with the timestamp that the host has.
    @Test func aRunnersRoot() async throws {
        let host = try UploadHost(of: testSite, by: .folder)
        try await host.upload().succeeded()
        let runner = try await Runner(of: testSite)
        try await Command.run("trust", "rotate", runner.vault, "root", "--against", host.folder).succeeded()
        #expect(try runner.written() == ["metadata/2.root.json", "metadata/timestamp.json"])
        #expect(
            try UploadHost.sent(await host.upload(runner.site, "--json")) == ["metadata/2.root.json"])
        try folder.write("level/file", "version 2")
        try await runner.publish(host.folder).succeeded()
        try await host.upload(runner.site).succeeded()
        try await expectSound(host)
    }

    /// Versions that have caught up with the destination's do not follow them.
    @Test func aStaleVaultThatCaughtUp() async throws {
        let host = try UploadHost(of: testSite, by: .folder)
        try await host.upload().succeeded()
        try await Tool.run("cp", "-a", testSite.vault, folder["other"])
        try folder.write("level/file", "theirs")
        try await testSite.publish()
        try await host.upload().succeeded()
        for number in 1...3 {
            try folder.write("level/file", "ours \(number)")
            try await Command.run("publish", folder["other"]).succeeded()
        }
        try await host.isUnchanged {
            try await host.upload(folder["other/site"]).failed(75, naming: "2.snapshot.json", "--against")
        }
        // The way that the error names.
        try await Command.run("publish", folder["other"], "--against", host.folder).failed(
            76, naming: "where that is refused", "remove \(folder["other/site/metadata"])", ".published")
        try await Tool.run("rm", "-r", folder["other/site/metadata"], folder["other/.published"])
        try await Command.run("publish", folder["other"], "--against", host.folder).succeeded()
        try await host.upload(folder["other/site"]).succeeded()
        try await expectSound(host)
    }

    /// Two publishers have used one number.
    @Test(arguments: UploadHost.Way.allCases) func anotherPublisher(way: UploadHost.Way) async throws {
        let host = try UploadHost(of: testSite, by: way)
        try await host.upload().succeeded()
        try await Tool.run("cp", "-a", testSite.vault, folder["other"])
        try folder.write("level/file", "ours")
        try await testSite.publish()
        try folder.write("level/file", "theirs")
        try await Command.run("publish", folder["other"]).succeeded()
        // Their upload was interrupted before the timestamp.
        try await Tool.run("cp", folder["other/site/metadata/2.targets.json"], "\(host.folder)/metadata/")
        try await host.isUnchanged {
            try await host.upload().failed(75, naming: "2.targets.json", "publish again with --against")
        }
        // It was not.
        try FileManager.default.removeItem(atPath: "\(host.folder)/metadata/2.targets.json")
        try await host.upload(folder["other/site"]).succeeded()
        try await host.isUnchanged {
            try await host.upload().failed(75, naming: "timestamp version 2", "publish again with --against")
        }
        // Another site altogether.
        try await Command.run("init", folder["foreign"]).succeeded()
        try await Command.run("publish", folder["foreign"], "--pack", "level=\(folder["level"])").succeeded()
        try await host.isUnchanged {
            try await host.upload(folder["foreign/site"]).failed(76, naming: "another site's")
        }
    }

    @Test(arguments: UploadHost.Way.allCases) func aDamagedSite(way: UploadHost.Way) async throws {
        let host = try UploadHost(of: testSite, by: way)
        try await host.upload().succeeded()
        try await publish(version: 2)
        for name in [try testSite.publishedPack("level"), "metadata/2.targets.json", "metadata/1.root.json"] {
            let path = "vault/site/\(name)"
            let sound = try folder.bytes(path)
            var damaged = sound
            damaged[damaged.count / 2] ^= 1
            try folder.write(path, damaged)
            try await host.isUnchanged {
                let refused = try await host.upload()
                #expect([65, 75, 76].contains(refused.exitCode), "\(refused.errorText)")
                #expect(refused.errorText.contains(name), "\(refused.errorText)")
            }
            try folder.write(path, sound)
        }
        // Files that nothing in the metadata names stay here.
        try folder.write("vault/site/targets/secret", "notes")
        try folder.write("vault/site/metadata/9.targets.json", "{}")
        try await host.upload().succeeded()
        #expect(try !host.content().files.contains { $0.contains("secret") || $0.contains("9.targets") })
        try await expectSound(host)
    }

    /// The new root last, where clients that don't have it accept the rest.
    @Test(arguments: UploadHost.Way.allCases) func newRoots(way: UploadHost.Way) async throws {
        let host = try UploadHost(of: testSite, by: way)
        try await host.upload().succeeded()
        try await testSite.fetch(host.folder).succeeded()
        try await Command.run("trust", "rotate", testSite.vault, "targets").succeeded()
        let sent = try UploadHost.sent(await host.upload(nil, "--json"))
        #expect(sent.suffix(2) == ["metadata/timestamp.json", "metadata/2.root.json"])
        // Two changes, of which clients of the host accept the roots only.
        try await Command.run("trust", "rotate", testSite.vault, "targets").succeeded()
        try await testSite.publish()
        let both = try UploadHost.sent(await host.upload(nil, "--json"))
        #expect(both.suffix(2) == ["metadata/3.root.json", "metadata/timestamp.json"], "\(both)")
        try await expectSound(host)
    }

    /// With the root that replaces a stolen key clients forget the versions that the thief has signed.
    @Test func lowerVersionsUnderANewRoot() async throws {
        let host = try UploadHost(of: testSite, by: .folder)
        try await host.upload().succeeded()
        try await Tool.run("cp", "-a", testSite.vault, folder["thief"])
        for _ in 1...5 { try await Command.run("trust", "refresh", folder["thief"]).succeeded() }
        try await host.upload(folder["thief/site"]).succeeded()
        try await testSite.fetch(host.folder).succeeded()
        for role in ["snapshot", "timestamp"] {
            try await Command.run("trust", "rotate", testSite.vault, role).succeeded()
        }
        let sent = try await host.upload().succeeded()
        #expect(sent.text.hasSuffix("; timestamp version 3, after 6\n"), "\(sent.text)")
        #expect(sent.errorText.contains("warning: the destination has timestamp version 6"))
        try await expectSound(host)
    }

    /// A root that lets clients forget versions makes no old site the newest: what remaining keys have signed counts.
    @Test(arguments: [["timestamp"], ["snapshot"], ["timestamp", "snapshot"]])
    func aStaleVaultWithANewRoot(roles: [String]) async throws {
        let host = try UploadHost(of: testSite, by: .folder)
        try await host.upload().succeeded()
        try await Tool.run("cp", "-a", testSite.vault, folder["stale"])
        for version in 2...3 {
            try await publish(version: version)
            try await host.upload().succeeded()
        }
        for role in roles { try await Command.run("trust", "rotate", folder["stale"], role).succeeded() }
        try await host.isUnchanged {
            for option in [[], ["--dry-run"]] {
                let refused = try await Command.run(
                    ["upload", folder["stale/site"], host.destination] + option)
                refused.failed(76, naming: "version", "--against")
            }
        }
        try await expectSound(host)
    }

    /// The same for the lists of channels, which only the snapshot names.
    @Test func aStaleVaultWithChannels() async throws {
        try testSite.settings { $0["channels"] = ["live"] }
        let host = try UploadHost(of: testSite, by: .folder)
        try await publish(version: 2)
        try await host.upload().succeeded()
        try await Tool.run("cp", "-a", testSite.vault, folder["stale"])
        try await publish(version: 3)
        try await host.upload().succeeded()
        for role in ["timestamp", "snapshot"] {
            try await Command.run("trust", "rotate", folder["stale"], role).succeeded()
        }
        try await host.isUnchanged {
            try await host.upload(folder["stale/site"]).failed(
                76, naming: "2.packs.json", "replace the targets key as well")
        }
    }

    /// A timestamp that a removed key has signed says nothing about what clients have seen; the files beside it do.
    @Test func aTimestampByARemovedKey() async throws {
        let host = try UploadHost(of: testSite, by: .folder)
        try await host.upload().succeeded()
        let first = try folder.bytes("host/metadata/timestamp.json")
        try await testSite.trust("rotate", "timestamp").succeeded()
        try await testSite.publish()
        try await host.upload().succeeded()
        try await Tool.run("cp", "-a", testSite.vault, folder["stale"])
        try await publish(version: 2)
        try await host.upload().succeeded()
        try folder.write("host/metadata/timestamp.json", first)
        try await host.isUnchanged {
            try await host.upload(folder["stale/site"]).failed(
                76, naming: "it is newer than the site, which lists")
        }
        try await host.upload().succeeded()
        try await expectSound(host)
    }

    /// Beside a timestamp that is gone: files that no present key has signed hide nothing, and stop nothing.
    @Test func filesOfOthersWithoutATimestamp() async throws {
        let host = try UploadHost(of: testSite, by: .folder)
        let snapshot: JSONValue = try folder.json("vault/site/metadata/1.snapshot.json")
        var forged = try #require(snapshot["signed"]?.members)
        forged["version"] = .integer((1 << 53) - 1)
        let name = "\((1 << 53) - 1).snapshot.json"
        try await testSite.sign(forged, as: name, with: folder["vault/keys/snapshot.pem"])
        let removed = try folder.bytes("vault/site/metadata/\(name)")
        try FileManager.default.removeItem(atPath: folder["vault/site/metadata/\(name)"])
        try await testSite.trust("rotate", "snapshot").succeeded()
        try await testSite.publish()
        try await host.upload().succeeded()
        try await Tool.run("cp", "-a", testSite.vault, folder["stale"])
        try await publish(version: 2)
        try await host.upload().succeeded()
        try FileManager.default.removeItem(atPath: folder["host/metadata/timestamp.json"])
        try folder.write("host/metadata/99.snapshot.json", "{}")
        try folder.write("host/metadata/99.targets.json", "{}")
        try folder.write("host/metadata/\(name)", removed)
        try await host.isUnchanged {
            try await host.upload(folder["stale/site"]).failed(76, naming: "no timestamp any more")
        }
        try await host.upload().succeeded()
        try await expectSound(host)
    }

    /// A store of objects keeps the headers that hosts need.
    @Test func headersForAStoreOfObjects() async throws {
        let host = try UploadHost(of: testSite, by: .rclone)
        let noting = try host.replacing(
            by:
                "case $1 in copy) echo \"$*\" >> '\(folder["log"])'; cat \"$5\" >> '\(folder["log"])';; esac\nexec $real \"$@\""
        )
        try await host.upload(environment: noting).succeeded()
        let log = String(decoding: try folder.bytes("log"), as: UTF8.self)
        let runs = log.components(separatedBy: "copy ").filter { $0.contains("--header-upload") }
        #expect(runs.count == 5, "\(log)")
        for run in runs {
            let header =
                run.contains("metadata/timestamp.json")
                ? "no-store" : "public, max-age=31536000, immutable, no-transform"
            #expect(run.contains("--header-upload Cache-Control: \(header) "), "\(run)")
        }
    }

    /// Options of rclone's and what stands before an @ may be secrets: in errors, in reports, and where a tool repeats them.
    @Test func secretsInDestinations() async throws {
        try await testSite.expectSecret(
            ":nosuch,key='hunter2,\"a:b':bucket/game", 69, naming: ":nosuch,…:bucket/game")
        try await testSite.expectSecret("nosuch,key=hunter2:bucket/game", 69, naming: "nosuch,…:bucket/game")
        try await testSite.expectSecret(
            "rsync://me:hunter2@127.0.0.1:1/game", 69, naming: "rsync://me:…@127.0.0.1:1/game")
        for scheme in ["https", "sftp", "s3", "ssh"] {
            try await testSite.expectSecret("\(scheme)://me:hunter2@127.0.0.1/x", 64, naming: "destination")
        }
        // Without the quotes that it needs, and no remote at all.
        try await testSite.expectSecret(
            ":nosuch,url=http://me:hunter2@127.0.0.1/:game", 69, naming: ":nosuch,…/metadata")
        try await testSite.expectSecret("me:hunter2@127.0.0.1:/srv", 69, naming: "me:…@127.0.0.1:/srv")
        let destination = ":local,key=hunter2:\(folder["host"])"
        let report = try await Command.run("upload", testSite.site, destination, "--json").succeeded()
        #expect(try report.json()["destination"]?.text == ":local,…:\(folder["host"])")
        #expect(!report.errorText.contains("hunter2"))
        #expect(try Tree(folder["host"]) == Tree(testSite.site))
    }

    /// Packs that only earlier versions list are not read back at each upload: the cost follows the change.
    @Test func keptPacksAreNotReadAgain() async throws {
        let host = try UploadHost(of: testSite, by: .rclone)
        try await host.upload().succeeded()
        let old = try testSite.publishedPack("level").split(separator: "/").last ?? ""
        for version in 2...4 {
            try await publish(version: version)
            try await host.upload().succeeded()
        }
        try await publish(version: 5)
        let noting = try host.replacing(
            by: "case $1 in check) cat \"$8\" >> '\(folder["log"])';; esac\nexec $real \"$@\"")
        try await host.upload(environment: noting).succeeded()
        let log = String(decoding: try folder.bytes("log"), as: UTF8.self)
        #expect(log.contains("5.targets.json"), "\(log)")
        #expect(log.split(separator: "\n").count { $0.hasSuffix(".avpack") } == 1, "\(log)")
        #expect(try folder.names(in: "host/targets/packs").contains(String(old)))
    }

    @Test func whatIsNoDestination() async throws {
        for text in ["https://packs.example.org/game", "http://127.0.0.1/", "rsync:", ""] {
            try await Command.run("upload", testSite.site, text).failed(64, naming: "rsync:HOST:PATH")
        }
        // A folder with a colon.
        try await Command.run(
            "upload", testSite.site, "./a:b", workingDirectory: folder.path
        ).succeeded()
        #expect(try Tree(folder["a:b"]) == Tree(testSite.site))
        try await Command.run("upload", testSite.vault, folder["host"]).failed(
            66, naming: "holds no metadata/")
        for inside in ["", "/metadata", "/targets/packs/here"] {
            try await Command.run("upload", testSite.site, testSite.site + inside).failed(
                64, naming: "inside of the site")
        }
        // Its own root is another one.
        try await Command.run("init", folder["foreign"]).succeeded()
        try await Command.run(
            "upload", testSite.site, folder["host"], "--trust", folder["foreign/trusted-root.json"]
        ).failed(76)
        #expect(try !folder.exists("host/metadata"))
    }
}

extension TestSite {
    /// Expects an upload to be refused in words that do not repeat the secret of the destination.
    fileprivate func expectSecret(_ destination: String, _ code: Int32, naming shown: String) async throws {
        let refused = try await Command.run("upload", site, destination)
        refused.failed(code, naming: shown)
        #expect(!refused.errorText.contains("hunter2"), "\(refused.errorText)")
    }
}
