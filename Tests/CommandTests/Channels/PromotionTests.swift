import Foundation
import StrictJSON
import Testing

/// A promotion of what a thief of a key listed; `Scripts/Channels/promotion.txt` has the publisher's own.
@Suite(.timeLimit(.minutes(5))) struct PromotionTests {
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
}
