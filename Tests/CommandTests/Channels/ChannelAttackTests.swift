import Foundation
import StrictJSON
import Testing

/// What a hostile host can make of a site's channels, without keys and with the snapshot's and the timestamp's.
@Suite(.timeLimit(.minutes(5))) struct ChannelAttackTests {
    /// Of one channel an older list, or that of another channel, under the present snapshot.
    @Test(arguments: ["beta", "dev"]) func aListInPlaceOfAnother(other: String) async throws {
        let site = try await ChannelSite()
        try await site.promote("level", from: "beta", to: "live").succeeded()
        let newest = try await site.testSite.newestFile(of: "packs")
        #expect(newest == "3.packs.json")
        let lists = try site.testSite.metadata().filter {
            $0.hasSuffix("packs.json") || $0.contains("channel.\(other)")
        }
        for list in lists.sorted() where list != newest {
            let honest = try site.folder.bytes("vault/site/metadata/\(newest)")
            try site.folder.write(
                "vault/site/metadata/\(newest)", site.folder.bytes("vault/site/metadata/\(list)"))
            try await site.testSite.fetch(nil, "--all").failed(76, naming: "packs")
            try await site.testSite.fetch(nil, "level").failed(76, naming: "packs")
            try site.folder.write("vault/site/metadata/\(newest)", honest)
        }
        #expect(try await site.level() == "version 2")
        let audit = try await Command.run(["audit", site.testSite.site] + site.testSite.keys)
        #expect(audit.exitCode == 0, "\(audit.text)")
    }

    /// A client of any channel refuses the site's earlier state, also after it changed the channel.
    @Test func anEarlierState() async throws {
        let site = try await ChannelSite()
        let old = site.folder["old"]
        try await Tool.run("cp", "-a", site.testSite.site, old)
        try await site.publish(4)
        try await site.promote("level", from: "dev", to: "beta").succeeded()
        #expect(try await site.level("--channel", "beta") == "version 4")
        for channel in ["beta", "live", "dev"] {
            try await site.testSite.fetch(old, "--all", "--channel", channel).failed(76)
        }
        #expect(try await site.level() == "version 4")
    }

    /// All channels are signed by the targets keys. Who has only the keys of snapshot and timestamp can't list a build of
    /// `dev` as live: a list names its role.
    @Test(arguments: [nil, 2] as [Int64?]) func aThiefOfTheOnlineKeys(bins: Int64?) async throws {
        let site = try await ChannelSite(bins: bins)
        #expect(try await site.level() == "version 1")
        for version in 4...6 { try await site.publish(version) }
        var listed: [String: Int64] = [:]
        for suffix in bins.map({ (0..<$0).map { "bin-\($0)" } }) ?? [""] {
            let (source, target) =
                suffix.isEmpty
                ? ("channel.dev", "packs") : ("channel.dev.\(suffix)", suffix.replacing("bin", with: "packs"))
            let newest = try await site.testSite.newestFile(of: source)
            let version = try #require(Int64(newest.prefix { $0 != "." }))
            try site.folder.write(
                "vault/site/metadata/\(version).\(target).json",
                site.folder.bytes("vault/site/metadata/\(newest)"))
            listed[target] = version
        }
        try await site.testSite.raise([], to: 0, listing: listed)
        try await site.testSite.fetch(nil, "--all", into: site.folder["new"]).failed(
            76, naming: "signed as another role")
        try await site.testSite.fetch(nil, "level", into: site.folder["new"]).failed(
            76, naming: "signed as another role")
        #expect(try await site.testSite.status(of: site.folder["new"])["level"]?.version == nil)
        #expect(try await site.level("--channel", "dev", in: site.folder["developer"]) == "version 6")
    }

    /// Who writes shared storage can't bring a version of another channel, though the site lists it.
    @Test func aPlantedVersion() async throws {
        let site = try await ChannelSite()
        #expect(try await site.level() == "version 1")
        let developer = site.folder["developer"]
        try await Command.run(
            "downloader", site.testSite.site, "--store", developer, "--trust", site.testSite.root,
            "--request", "install", "--channel", "dev"
        ).succeeded()
        try await Tool.run("cp", "-a", "\(developer)/shared/.", "\(site.testSite.store)/shared/")
        _ = try await Command.run(["unlock", "--store", site.testSite.store] + site.testSite.keys)
        #expect(try await site.testSite.status()["level"]?.version == 1)
        #expect(try await site.level() == "version 1")
    }

    /// The file with the channel in the app's own area.
    @Test(arguments: ["", "{}x", #"{"channel": "Live"}"#, #"{"channel": 1}"#]) func aDamagedChoice(
        text: String
    ) async throws {
        let site = try await ChannelSite()
        #expect(try await site.level("--channel", "dev") == "version 3")
        try site.folder.write("store/permanent/@choice", text)
        try await site.testSite.fetch(nil, "--all").failed(65, naming: "is damaged")
        // Whoever names what decides which packs are listed needs it no more, and replaces it.
        try await site.testSite.fetch(nil, "--all", "--channel", "dev", "--app-version", "1").succeeded()
        #expect(try await site.level() == "version 3")
        try site.folder.write("store/permanent/@choice", text)
        try await Tool.run("rm", site.folder["store/permanent/@choice"])
        #expect(try await site.level("--channel", "beta") == "version 2")
        #expect(try await site.level() == "version 2")
    }
}
