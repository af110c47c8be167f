import FaultServer
import Foundation
import StrictJSON
import Testing

/// Quiet names are switched on and off in one channel after the other, and clients of each follow.
@Suite(.timeLimit(.minutes(10))) struct QuietSwitchTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    /// Public names in both channels, and a client of live.
    init() async throws {
        testSite = try await TestSite()
        for name in ["one", "two"] { try folder.write("\(name)/file", "\(name), public") }
        try declare(isQuiet: false)
        try await testSite.publish()
        try await promote()
        try await testSite.fetch().succeeded()
    }

    private func declare(isQuiet: Bool, bins: Int64? = nil) throws {
        try testSite.settings {
            $0["quietNames"] = .bool(isQuiet)
            $0["bins"] = bins.map { .integer($0) }
            $0["channels"] = ["beta", "live"]
            $0["packs"] = [
                "hush/one": ["source": "../one", "policy": "essential", "tags": ["campaign"]],
                "hush/two": ["source": "../two", "policy": "essential", "tags": ["campaign"]],
            ]
        }
    }

    @discardableResult
    private func promote() async throws -> CommandResult {
        try await Command.run("promote", testSite.vault, "--from", "beta", "--to", "live", "--all")
            .succeeded()
    }

    private func content(_ name: String = "one", in store: String? = nil) async throws -> String {
        try String(
            contentsOfFile: try await testSite.path(of: "hush/\(name)", in: store) + "/file", encoding: .utf8)
    }

    private func access(_ tag: String, _ words: [String] = []) async throws -> CommandResult {
        try await Command.run(["access", tag, "--store", testSite.store] + words + ["--", "true"])
    }

    /// What `status` shows: names, and listed IDs where these are others.
    private func shown() async throws -> [(name: String, isQuiet: Bool)] {
        let answer = try await Command.run("status", "--store", testSite.store, "--json").succeeded().json()
        return try #require(answer["packs"]?.elements).map {
            ($0["id"]?.text ?? "", $0["listedID"] != nil)
        }.filter { $0.name != "assetvault.names" }
    }

    /// What is switched on in the channel of the sources changes nothing in the other one.
    @Test(arguments: [nil, 16] as [Int64?]) func onInOneChannel(bins: Int64?) async throws {
        try declare(isQuiet: true, bins: bins)
        let plan = try await Command.run("plan", testSite.vault)
        #expect((plan.text + plan.errorText).contains("quiet names are switched on"), "\(plan.text)")
        let result = try await testSite.publish()
        #expect(result.errorText.contains("quiet names are switched on"), "\(result.errorText)")
        #expect(try await testSite.publish().errorText.contains("switched") == false)
        try await testSite.fetch().succeeded()
        #expect(try await access("campaign").exitCode == 0)
        #expect(try await content() == "one, public")
        let from = ["--site", testSite.site, "--trust", testSite.root] + testSite.keys
        try await Command.run(["cat", "hush/one", "file"] + from).succeeded()
        let list = try await Command.run(["list", testSite.site] + testSite.keys).succeeded()
        #expect(list.text.contains("hush/one") && !list.errorText.contains("quiet"))
        let quiet = try await Command.run("list", testSite.site, "--channel", "beta").succeeded()
        #expect(!quiet.text.contains("hush"))
        #expect(quiet.errorText.contains("give --keys"), "\(quiet.errorText)")
        let audit = try await Command.run(["audit", testSite.site] + testSite.keys)
        #expect(audit.exitCode == 0, "\(audit.text) \(audit.errorText)")

        #expect(try await promote().errorText.contains("quiet names are switched on"))
        // Only the names come: what is loaded under the public ones stands in for it.
        let server = try FaultServer(testSite.site) { request in
            request.path.contains(".q") ? .status(404) : .file
        }
        #expect(try await testSite.fetch(server.url).exitCode != 0)
        #expect(try await content() == "one, public")
        #expect(try await access("campaign").exitCode == 0)
        #expect(try await shown().count == 4)
        try await testSite.fetch().succeeded()
        #expect(try await content() == "one, public")
        #expect(try await access("campaign").exitCode == 0)
        let packs = try await shown()
        #expect(packs.count == 2 && packs.allSatisfy(\.isQuiet), "\(packs)")
        #expect(try testSite.files(in: "permanent").allSatisfy { !$0.hasPrefix("hush/") })
    }

    /// What was public here, but never at the host, does not come there once names are quiet.
    @Test(arguments: [nil, 16] as [Int64?]) func whatTheHostNeverHad(bins: Int64?) async throws {
        try declare(isQuiet: false, bins: bins)
        try await testSite.publish()
        try await promote()
        try declare(isQuiet: true, bins: bins)
        try await testSite.publish()
        try await promote()
        try await testSite.fetch().succeeded()
        let host = try UploadHost(of: testSite, by: .folder)
        try await host.upload().succeeded()
        let hosted = try Tree(host.folder).files
        #expect(!hosted.contains { $0.contains("hush") }, "\(hosted)")
        for name in hosted where name.hasPrefix("metadata/") {
            let text = String(decoding: try folder.bytes("host/\(name)"), as: UTF8.self)
            #expect(!text.contains("hush") && !text.contains("campaign"), "\(name): \(text)")
        }
        try await Command.run(["audit", host.folder, "--trust", testSite.root] + testSite.keys).succeeded()
        // An earlier quiet state is there.
        try folder.write("one/file", "one, later")
        try await testSite.publish()
        let earlier = try await testSite.newestFile(of: bins == nil ? "channel.beta" : "snapshot")
        try folder.write("one/file", "one, last")
        try await testSite.publish()
        try await host.upload().succeeded()
        #expect(try folder.exists("host/metadata/\(earlier)"))
    }

    /// The other way, with a client that has quiet names.
    @Test func offInOneChannel() async throws {
        try declare(isQuiet: true)
        try await testSite.publish()
        try await promote()
        try await testSite.fetch().succeeded()
        try declare(isQuiet: false)
        try folder.write("one/file", "one, later")
        #expect(try await testSite.publish().errorText.contains("quiet names are switched off"))
        try await testSite.fetch().succeeded()
        #expect(try await content() == "one, public")
        #expect(try await access("campaign").exitCode == 0)
        #expect(try await shown().map(\.name) == ["hush/one", "hush/two"])
        // To the public channel, and back.
        try await testSite.fetch(nil, "--channel", "beta").succeeded()
        #expect(try await content() == "one, later")
        #expect(try await access("campaign").exitCode == 0)
        #expect(try await shown().allSatisfy { !$0.isQuiet })
        try await testSite.fetch(nil, "--channel", "live").succeeded()
        #expect(try await content() == "one, public")
        #expect(try await shown().allSatisfy(\.isQuiet))
        try await promote()
        try await testSite.fetch().succeeded()
        #expect(try await content() == "one, later")
    }

    /// A rollback to public names counts for clients that have the quiet pack.
    @Test func aRollback() async throws {
        try declare(isQuiet: true)
        try folder.write("one/file", "one, bad")
        try await testSite.publish()
        try await promote()
        try await testSite.fetch().succeeded()
        #expect(try await content() == "one, bad")
        try await Command.run("restore", testSite.vault, "--channel", "live", "--to", "2").succeeded()
        try await testSite.fetch().succeeded()
        #expect(try await content() == "one, public")
        #expect(try await access("campaign").exitCode == 0)
        #expect(try await shown().allSatisfy { !$0.isQuiet })
        // The channel of the sources as well, as the settings say for the sources alone.
        try await Command.run("restore", testSite.vault, "--channel", "beta", "--to", "1").succeeded()
        try await testSite.publish()
        try await testSite.fetch(nil, "--channel", "beta").succeeded()
        #expect(try await content() == "one, public")
        try await Command.run("restore", testSite.vault, "--channel", "beta", "--latest").succeeded()
        try await testSite.fetch().succeeded()
        #expect(try await content() == "one, bad")
    }

    /// What was removed stays removed under its new name; by its name a pack goes under both.
    @Test func removedPacks() async throws {
        try await Command.run("remove", "hush/two", "--store", testSite.store).succeeded()
        try declare(isQuiet: true)
        try await testSite.publish()
        try await promote()
        let server = try FaultServer(testSite.site) { request in
            request.path.contains(".q") ? .status(404) : .file
        }
        _ = try await testSite.fetch(server.url)
        try await testSite.fetch().succeeded()
        #expect(try await testSite.status()["hush/two"]?.version == nil)
        try await Command.run("remove", "hush/one", "--store", testSite.store).succeeded()
        try await Command.run("path", "hush/one", "--store", testSite.store).failed(66, naming: "hush/one")
        try await testSite.fetch().succeeded()
        #expect(try await testSite.status()["hush/one"]?.version == nil)
        try await testSite.fetch(nil, "hush/one").succeeded()
        #expect(try await content() == "one, public")
    }

    /// Packs that come again are updated after the next switch.
    @Test func aPackThatIsAskedForAgain() async throws {
        try declare(isQuiet: true)
        try await testSite.publish()
        try await promote()
        try await testSite.fetch().succeeded()
        try await Command.run("remove", "hush/two", "--store", testSite.store).succeeded()
        try await testSite.fetch(nil, "hush/two").succeeded()
        for (isQuiet, text) in [(false, "two, later"), (true, "two, last")] {
            try declare(isQuiet: isQuiet)
            try folder.write("two/file", text)
            try await testSite.publish()
            try await promote()
            try await testSite.fetch().succeeded()
            #expect(try await content("two") == text)
        }
    }

    /// A store that only opens what a downloader brings follows as a client does.
    @Test(arguments: ["downloader", "fetch"]) func openedWithoutASite(broughtBy command: String) async throws
    {
        try await Command.run("remove", "hush/two", "--store", testSite.store).succeeded()
        try await Command.run("purgeable", "hush/one", "--store", testSite.store).succeeded()
        for (isQuiet, text) in [(true, "one, quiet"), (false, "one, later"), (true, "one, last")] {
            try declare(isQuiet: isQuiet)
            try folder.write("one/file", text)
            try await testSite.publish()
            try await promote()
            let words = [command, testSite.site, "--store", testSite.store, "--trust", testSite.root]
            try await Command.run(words + (command == "fetch" ? [] : ["--request", "install"])).succeeded()
            try await Command.run(["unlock", "--store", testSite.store] + testSite.keys).succeeded()
            #expect(try await content() == text)
            #expect(try await access("campaign").exitCode == 66)
            let packs = try await testSite.status()
            #expect(packs["hush/one"]?.isPurgeable == true, "\(packs)")
            #expect(packs["hush/two"]?.version == nil, "\(packs)")
            #expect(try await shown().filter { $0.name == "hush/one" }.map(\.isQuiet) == [isQuiet])
        }
    }

    /// So they do where packs were opened before their names were known.
    @Test func openedWithoutTheirNames() async throws {
        try await Command.run("remove", "hush/two", "--store", testSite.store).succeeded()
        try await Command.run("purgeable", "hush/one", "--store", testSite.store).succeeded()
        try declare(isQuiet: true)
        try await testSite.publish()
        try await promote()
        let server = try FaultServer(testSite.site) { request in
            request.path.contains("assetvault.names") ? .status(404) : .file
        }
        #expect(try await testSite.fetch(server.url).exitCode == 72)
        #expect(try await shown().filter(\.isQuiet).isEmpty)
        try await testSite.fetch().succeeded()
        let packs = try await testSite.status()
        #expect(packs["hush/one"]?.isPurgeable == true, "\(packs)")
        #expect(packs["hush/two"]?.version == nil, "\(packs)")
    }

    /// A pack that is still loaded under its earlier name is found, and repaired by what is listed now.
    @Test(arguments: [true, false]) func aDamagedPack(nowQuiet: Bool) async throws {
        if !nowQuiet {
            try declare(isQuiet: true)
            try await testSite.publish()
            try await promote()
            try await testSite.fetch().succeeded()
        }
        try declare(isQuiet: nowQuiet)
        try await testSite.publish()
        try await promote()
        let server = try FaultServer(testSite.site) { request in
            request.path.contains(".avpack") && !request.path.contains("assetvault.names")
                ? .status(404) : .file
        }
        #expect(try await testSite.fetch(server.url).exitCode != 0)
        let file = try await testSite.path(of: "hush/one") + "/file"
        let verify = ["verify", "hush/one", "--store", testSite.store] + testSite.keys
        try await Command.run(verify).succeeded()
        try "bad".write(toFile: file, atomically: false, encoding: .utf8)
        #expect(try await Command.run(verify).exitCode == 65)
        try await Command.run(
            ["repair", testSite.site, "hush/one", "--store", testSite.store] + testSite.keys
        )
        .succeeded()
        #expect(try await content() == "one, public")
        #expect(try await shown().filter { $0.name == "hush/one" }.map(\.isQuiet) == [nowQuiet])
        try await Command.run(verify).succeeded()
    }
}
