import Foundation
import StrictJSON
import Testing

/// Listing packs of one channel in another.
@Suite(.timeLimit(.minutes(5))) struct PromotionTests {
    /// Nothing is sealed: three metadata files are new, and no pack.
    @Test func metadataOnly() async throws {
        let site = try await ChannelSite()
        let (packs, metadata) = (try Tree("\(site.testSite.site)/targets"), try site.testSite.metadata())
        let dryRun = try await site.promote("--all", "--dry-run", from: "beta", to: "live").succeeded()
        #expect(dryRun.text == "updated  level  version 1 to 2\n")
        #expect(try site.testSite.metadata() == metadata)
        let done = try await site.promote("--all", "--json", from: "beta", to: "live").succeeded().json()
        #expect(done["packs"] == [["id": "level", "change": "updated", "from": 1, "version": 2]])
        #expect(try Tree("\(site.testSite.site)/targets") == packs)
        let written = try site.testSite.metadata().subtracting(metadata)
        #expect(written.count == 2 && written.contains { $0.hasSuffix(".packs.json") }, "\(written)")
        #expect(try await site.listed(in: "live") == ["level": 2])
        // The channels that it comes from stay.
        #expect(try await site.listed(in: "dev") == ["level": 3])
        let again = try await site.promote("--all", from: "beta", to: "live").succeeded()
        #expect(again.errorText.contains("nothing changed"), "\(again.errorText)")
    }

    /// `--all` takes what the first channel lacks out of the second; a dry run names it, and what becomes visible.
    @Test func allIsExact() async throws {
        let site = try await ChannelSite()
        try site.folder.write("new/file", "new")
        try site.testSite.settings {
            $0["packs"] = ["new": .object(["source": .string(site.folder["new"])])]
        }
        try await site.testSite.publish()
        let dryRun = try await site.promote("--all", "--dry-run", from: "dev", to: "beta").succeeded()
        #expect(dryRun.text.contains("removed  level  version 2, clients see it no more"))
        #expect(dryRun.text.contains("added  new  version 1, a new name for clients"))
        try await site.promote("--all", from: "dev", to: "beta").succeeded()
        #expect(try await site.listed(in: "beta") == ["new": 1])
        #expect(try await site.listed(in: "live") == ["level": 1])
        // Declared again, a pack continues from what other channels list.
        try await site.testSite.publish("--pack", "level=\(site.folder["level"])")
        #expect(try await site.listed(in: "dev")["level"] == 4)
    }

    /// A resource tree is promoted as one: of its packs the channel lists those that there are now.
    @Test func aResourceTree() async throws {
        let site = try await ChannelSite()
        for name in ["a", "b", "c"] { try site.folder.write("tree/\(name)", "file \(name)") }
        func declare(_ tags: [String]) throws {
            let rules = tags.map { JSONValue.object(["paths": .string($0), "tags": [.string($0)]]) }
            try site.testSite.settings {
                $0["resources"] = [
                    "game": .object(["source": .string(site.folder["tree"]), "rules": .array(rules)])
                ]
            }
        }
        try declare(["a", "b"])
        try await site.testSite.publish()
        try await site.promote("game", from: "dev", to: "live").succeeded()
        #expect(try await site.listed(in: "live") == ["level": 1, "game/a": 1, "game/b": 1])
        try declare(["b", "c"])
        try await site.testSite.publish()
        try await site.promote("game", from: "dev", to: "live").succeeded()
        #expect(try await site.listed(in: "live") == ["level": 1, "game/b": 1, "game/c": 1])
    }

    /// Another channel becomes that of the sources: a number that the former one gave is not given again.
    @Test func channelsChangePlaces() async throws {
        let site = try await ChannelSite()
        try site.testSite.settings { $0["channels"] = ["live", "beta", "dev"] }
        try await site.publish(4)
        #expect(try await site.listed(in: "live") == ["level": 4])
        #expect(try await site.listed(in: "dev") == ["level": 3])
        try await site.promote("--all", from: "live", to: "dev").succeeded()
        #expect(try await site.level("--channel", "dev") == "version 4")
    }

    @Test func refusals() async throws {
        let site = try await ChannelSite()
        try await site.promote("level", from: "dev", to: "live").succeeded()
        let before = try Tree(site.testSite.vault)
        let refused: [([String], String, String, Int32, String)] = [
            (["--all"], "beta", "live", 64, "version 2 is older"),
            (["level"], "beta", "dev", 64, "lists what the sources are"),
            (["level"], "live", "live", 64, "both channels"), (["level"], "alpha", "live", 64, "no channel"),
            (["level"], "dev", "lve", 64, "did you mean 'live'"),
            (["levl"], "dev", "beta", 66, "did you mean 'level'"), ([], "dev", "beta", 64, "no pack"),
            (["--all", "level"], "dev", "beta", 64, "IDs and --all"),
        ]
        for (arguments, origin, destination, code, expected) in refused {
            let result = try await Command.run(
                ["promote", site.testSite.vault, "--from", origin, "--to", destination] + arguments)
            result.failed(code, naming: expected)
        }
        #expect(try Tree(site.testSite.vault) == before)
        try await site.promote("level", "--allow-older", from: "beta", to: "live").succeeded()
        #expect(try await site.listed(in: "live") == ["level": 2])
        #expect(try await site.level() == "version 2")
    }

    /// A thief of the targets key put another pack into dev under a number that is live: it goes no further.
    @Test func otherContentOfOneVersion() async throws {
        let site = try await ChannelSite()
        try await site.promote("level", from: "dev", to: "live").succeeded()
        let version = try await site.testSite.forge("channel.dev", key: "targets") { signed in
            var targets = try #require(signed["targets"]?.members)
            var record = try #require(targets["packs/level.avpack"]?.members)
            record["hashes"] = ["sha256": .string(String(repeating: "0", count: 64))]
            targets["packs/level.avpack"] = .object(record)
            signed["targets"] = .object(targets)
        }
        try await site.testSite.raise([], to: 0, listing: ["channel.dev": version])
        let before = try Tree(site.testSite.site)
        for arguments in [["--all"], ["level", "--allow-older"]] {
            let result = try await Command.run(
                ["promote", site.testSite.vault, "--from", "dev", "--to", "live"] + arguments)
            result.failed(76, naming: "other content as version 3")
        }
        #expect(try Tree(site.testSite.site) == before)
    }

    /// The same with a version for other versions of the app.
    @Test func otherContentOfAnotherAppsVersion() async throws {
        let site = try await ChannelSite()
        try await site.promote("level", from: "dev", to: "live").succeeded()
        let version = try await site.testSite.forge("channel.dev", key: "targets") { signed in
            var targets = try #require(signed["targets"]?.members)
            var record = try #require(targets["packs/level.avpack"]?.members)
            var custom = try #require(record["custom"]?.members)
            var pack = try #require(custom["assetvault"]?.members)
            var other = record
            other["hashes"] = ["sha256": .string(String(repeating: "0", count: 64))]
            custom["assetvaultOthers"] = [.object(other)]
            pack["version"] = 4
            custom["assetvault"] = .object(pack)
            record["hashes"] = ["sha256": .string(String(repeating: "1", count: 64))]
            record["custom"] = .object(custom)
            targets["packs/level.avpack"] = .object(record)
            signed["targets"] = .object(targets)
        }
        try await site.testSite.raise([], to: 0, listing: ["channel.dev": version])
        let before = try Tree(site.testSite.site)
        for arguments in [["--all"], ["level", "--allow-older"]] {
            let result = try await Command.run(
                ["promote", site.testSite.vault, "--from", "dev", "--to", "live"] + arguments)
            result.failed(76, naming: "other content as version 3")
        }
        #expect(try Tree(site.testSite.site) == before)
    }

    /// With the targets key elsewhere, the new list waits for its signature.
    @Test func anOfflineKey() async throws {
        let site = try await ChannelSite()
        let key = try site.testSite.takeAway("targets.pem")
        let before = try Tree(site.testSite.site)
        try await site.promote("level", from: "beta", to: "live").failed(77, naming: "packs.json")
        #expect(try Tree(site.testSite.site) == before)
        let waiting = try #require(try site.testSite.pending().first { $0.hasSuffix(".packs.json") })
        try await Command.run(
            "trust", "sign", site.folder["vault/pending/\(waiting)"], "--key", key
        ).succeeded()
        try await site.promote("level", from: "beta", to: "live").succeeded()
        #expect(try await site.listed(in: "live") == ["level": 2])
        #expect(try site.testSite.pending().isEmpty)
    }

    /// On a machine without the packs, against the host's metadata.
    @Test func againstAHost() async throws {
        let site = try await ChannelSite()
        let host = site.folder["host"]
        try FileManager.default.moveItem(atPath: site.testSite.site, toPath: host)
        try await site.promote("level", "--against", host, from: "beta", to: "live").succeeded()
        let written = try Tree(site.testSite.site).files
        #expect(written.count == 3 && written.allSatisfy { $0.hasPrefix("metadata/") }, "\(written)")
    }

    /// Old versions go from the host only when no channel lists them.
    @Test func pruningKnowsAllChannels() async throws {
        let site = try await ChannelSite()
        func packs() throws -> Int {
            try Tree("\(site.testSite.site)/targets").files.count { $0.hasSuffix(".avpack") }
        }
        for version in 4...6 { try await site.publish(version) }
        #expect(try packs() == 6)
        // When the snapshots of today have expired.
        try await Command.run(
            "prune", site.testSite.vault, "--keep", "1", "--grace", "0d",
            through: Clock.shifted(byDays: 60)
        ).succeeded()
        #expect(try packs() == 3)
        for (channel, version) in [("live", 1), ("beta", 2), ("dev", 6)] as [(String, Int64)] {
            #expect(try await site.listed(in: channel) == ["level": version])
        }
        try await Command.run(["audit", site.testSite.site] + site.testSite.keys).succeeded()
    }
}
