import Foundation
import StrictJSON
import Testing

/// Several lists of packs of one site, as authors and clients see them.
@Suite(.timeLimit(.minutes(5))) struct ChannelTests {
    /// The bins of each channel, and what python-tuf sees: `live` as any client, the others by their roles.
    @Test(arguments: [nil, 4] as [Int64?]) func eachHasAListOfItsOwn(bins: Int64?) async throws {
        let site = try await ChannelSite(bins: bins)
        for (channel, version) in [("live", 1), ("beta", 2), ("dev", 3)] as [(String, Int64)] {
            #expect(try await site.listed(in: channel) == ["level": version])
            let store = site.folder["store-\(channel)"]
            #expect(try await site.level("--channel", channel, in: store) == "version \(version)")
        }
        #expect(try await site.level(in: site.folder["other"]) == "version 1")
        let audit = try await Command.run(
            ["audit", site.testSite.site, "--trust", site.testSite.root] + site.testSite.keys
        ).succeeded()
        #expect(audit.text.contains("ok: 3 packs"), "\(audit.text)")
        for (role, version) in [(nil, 1), ("channel.beta", 2), ("channel.dev", 3)] as [(String?, Int64)] {
            let verdict = try await Judge.run(
                site.testSite.site, root: site.testSite.root, target: "packs/level.avpack",
                into: site.folder["out"], role: role)
            #expect(verdict.exitCode == 0, "\(verdict.errorText)")
            #expect(
                try verdict.json()["target", "custom", "assetvault", "version"]?.number == version,
                "\(verdict.text)")
        }
    }

    /// A pack of a channel that is not live exists for no client of `live`, ours or python-tuf.
    @Test func namesStayUnseen() async throws {
        let site = try await ChannelSite()
        try site.folder.write("secret/file", "of the next season")
        try await site.testSite.publish("--pack", "secret=\(site.folder["secret"])")
        try await site.promote("secret", from: "dev", to: "beta").succeeded()
        #expect(try await site.listed(in: "live") == ["level": 1])
        #expect(try await site.listed(in: "beta") == ["level": 2, "secret": 1])
        try await site.testSite.fetch(nil, "secret").failed(66, naming: "choose among level")
        let verdict = try await Judge.run(
            site.testSite.site, root: site.testSite.root, target: "packs/secret.avpack",
            into: site.folder["out"])
        #expect(verdict.exitCode == 1 && verdict.errorText.contains("is not listed"), "\(verdict.errorText)")
    }

    /// The store goes on with the channel that was named last, and back to a lower version where that is listed.
    @Test func aClientChangesItsChannel() async throws {
        let site = try await ChannelSite()
        #expect(try await site.level() == "version 1")
        #expect(try await site.level("--channel", "dev") == "version 3")
        #expect(try await site.level() == "version 3")
        #expect(try await site.level("--channel", "beta") == "version 2")
        let unknown = try await Command.run(
            ["fetch", site.testSite.site, "--store", site.testSite.store, "--channel", "alpha"]
                + site.testSite.keys)
        unknown.failed(66, naming: "choose among live, beta, dev")
        #expect(try await site.level() == "version 2")
        #expect(try await site.level("--channel", "live") == "version 1")
        #expect(try await site.level("--channel", "dev") == "version 3")
        try await site.publish(4)
        #expect(try await site.level() == "version 4")
    }

    /// A downloader follows the app's channel; what it brought opens without the site, and in no other channel.
    @Test func aDownloaderFollowsTheApp() async throws {
        let site = try await ChannelSite()
        let (url, store) = (site.testSite.site, site.testSite.store)
        #expect(try await site.level("--channel", "beta") == "version 2")
        try await site.publish(4)
        try await site.promote("level", from: "dev", to: "beta").succeeded()
        let downloaded = try await Command.run("downloader", url, "--store", store, "--request", "update")
        #expect(downloaded.exitCode == 0, "\(downloaded.errorText)")
        _ = try await Command.run(["unlock", "--store", store, "--channel", "live"] + site.testSite.keys)
        #expect(try await site.testSite.status()["level"]?.version == 2)
        try await Command.run(["unlock", "--store", store] + site.testSite.keys).succeeded()
        #expect(try await site.testSite.status()["level"]?.version == 4)
    }

    @Test func aDownloaderOfItsOwnChannel() async throws {
        let site = try await ChannelSite()
        let store = site.folder["fresh"]
        try await Command.run(
            "downloader", site.testSite.site, "--store", store, "--trust", site.testSite.root, "--request",
            "install", "--channel", "beta"
        ).succeeded()
        // Of the app's channel, which is live at first, it is no version.
        let live = try await Command.run(["unlock", "--store", store] + site.testSite.keys)
        #expect(try await site.testSite.status(of: store)["level"]?.version == nil, "\(live.errorText)")
        try await Command.run(["unlock", "--store", store, "--channel", "beta"] + site.testSite.keys)
            .succeeded()
        #expect(try await site.testSite.status(of: store)["level"]?.version == 2)
    }

    /// What is live stays live when a site gets channels, other ones, bins in them, or none again.
    @Test func channelsComeAndGo() async throws {
        let testSite = try await TestSite(publishing: ["level"])
        let readers = try await Readers(of: testSite)
        let live = try Tree(testSite.folder["level"])
        try testSite.folder.write("level/file", "the next version")
        let changes: [(JSONValue?, Int64?)] = [
            (["beta", "live"], nil), (["beta", "live"], 4), (["dev", "beta", "live"], nil),
            (["dev", "live"], 4),
        ]
        for (step, (channels, bins)) in changes.enumerated() {
            try testSite.settings {
                $0["channels"] = channels
                $0["bins"] = bins.map { .integer($0) }
            }
            try await testSite.publish()
            try await readers.expectBelief(seeing: [live], withPython: step == 3, "step \(step)")
            try await readers.follow(withPython: false)
            let before = try Tree(testSite.site)
            try await testSite.publish()
            #expect(try Tree(testSite.site) == before, "step \(step)")
        }
        try testSite.settings {
            $0["channels"] = nil
            $0["bins"] = nil
        }
        try await testSite.publish()
        try await readers.expectBelief(seeing: [Tree(testSite.folder["level"])])
    }

    /// Commands that read one pack take it from the channel that they are told.
    @Test func onePackOfAChannel() async throws {
        let site = try await ChannelSite()
        let source = ["--site", site.testSite.site, "--trust", site.testSite.root] + site.testSite.keys
        for (channel, content) in [(["--channel", "dev"], "version 3"), ([], "version 1")] {
            let text = try await Command.run(["cat", "level", "file"] + channel + source).succeeded().text
            #expect(text == content)
            let output = site.folder["opened-\(content)"]
            try await Command.run(["open", "level", "-o", output] + channel + source).succeeded()
            #expect(try String(contentsOfFile: "\(output)/file", encoding: .utf8) == content)
        }
        try await Command.run(["inspect", "level", "--channel", "nowhere"] + source).failed(
            66, naming: "nowhere")
        let file = try #require(try Tree(site.testSite.site).files.first { $0.hasSuffix(".avpack") })
        try await Command.run(
            ["cat", "\(site.testSite.site)/\(file)", "file", "--channel", "dev"] + source
        ).failed(64, naming: "--channel")
    }

    /// Reports say which channel they are about.
    @Test func reportsNameTheChannel() async throws {
        let site = try await ChannelSite()
        try site.folder.write("level/file", "version 4")
        func expect(_ channel: String, _ command: [String]) async throws {
            let dry = try await Command.run(command + ["--dry-run"]).succeeded()
            #expect(dry.errorText.contains("the channel '\(channel)' would list this"), "\(dry.errorText)")
            let json = try await Command.run(command + ["--dry-run", "--json"]).succeeded().json()
            #expect(json["channel"]?.text == channel)
            let done = try await Command.run(command).succeeded()
            #expect(done.errorText.contains("the channel '\(channel)' lists this"), "\(done.errorText)")
        }
        let vault = site.testSite.vault
        try await expect("dev", ["publish", vault])
        try await expect("live", ["promote", vault, "--all", "--from", "beta", "--to", "live"])
        try await expect("dev", ["restore", vault, "level", "--version", "1"])
        try await expect("live", ["restore", vault, "--channel", "live", "--to", "3"])
        let one = try await TestSite(publishing: ["level"])
        let result = try await one.publish("--json").json()
        #expect(result["channel"] == .null)
    }

    /// A team's packs are seen in every channel.
    @Test func aTeamsPacks() async throws {
        let studio = try await Studio()
        try studio.testSite.settings { $0["channels"] = ["beta", "live"] }
        try await studio.testSite.publish()
        for channel in ["beta", "live"] {
            let store = studio.folder["store-\(channel)"]
            try await studio.testSite.fetch(nil, "--all", "--channel", channel, into: store).succeeded()
            #expect(try await studio.testSite.status(of: store)["dlc1/one"]?.version == 1)
        }
        try await studio.testSite.fetch(nil, "--all", "--channel", "beta").succeeded()
        #expect(try await studio.testSite.status()["level"]?.version == 1)
    }

    @Test(
        arguments: [
            (["beta"], "not among them"), (["live", "live"], "named twice"), (["live", "Beta"], "can't be"),
            (["live", "a.b"], "can't be"), (["live", ""], "can't be"),
        ] as [(JSONValue, String)])
    func invalidChannels(channels: JSONValue, expected: String) async throws {
        let testSite = try await TestSite(publishing: ["level"])
        try testSite.settings { $0["channels"] = channels }
        let before = try Tree(testSite.site)
        try await Command.run("publish", testSite.vault).failed(64, naming: expected)
        #expect(try Tree(testSite.site) == before)
    }
}
