import Testing
import VaultBase

/// What a hostile host can make of a site's channels with the keys of the snapshot and the timestamp;
/// `Scripts/Channels/channel-attack.txt` has what it can make without keys.
@Suite(.timeLimit(.minutes(5))) struct ChannelAttackTests {
    /// All channels are signed by the targets keys. Who has only the keys of snapshot and timestamp can't list a build of
    /// `dev` as live: a list names its role.
    @Test(arguments: [nil, 2] as [Int64?]) func aThiefOfTheOnlineKeys(bins: Int64?) async throws {
        let world = try await World.withChannels(bins: bins)
        #expect(try await world.level() == "version 1")
        for version in 4...6 { try await world.publish(level: "version \(version)") }
        var listed: [String: Int64] = [:]
        for suffix in bins.map({ (0..<$0).map { "bin-\($0)" } }) ?? [""] {
            let (source, target) =
                suffix.isEmpty
                ? ("channel.dev", "packs") : ("channel.dev.\(suffix)", suffix.replacing("bin", with: "packs"))
            let newest = try await world.newestFile(of: source)
            let version = try #require(Int64(newest.prefix { $0 != "." }))
            try world.write(
                "vault/site/metadata/\(version).\(target).json",
                world.bytes("vault/site/metadata/\(newest)"))
            listed[target] = version
        }
        try await world.raise([], to: 0, listing: listed)
        try await world.fetch("--all", into: world["new"]).failed(
            76, naming: "signed as another role")
        try await world.fetch("level", into: world["new"]).failed(
            76, naming: "signed as another role")
        #expect(try await world.status(of: world["new"])["level"]?.version == nil)
        #expect(try await world.level("--channel dev", in: world["developer"]) == "version 6")
    }
}
