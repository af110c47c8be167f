import Testing
import VaultBase

/// Several lists of packs of one site, as other TUF clients see them; `Scripts/Channels/channel.txt` is about ours.
@Suite(.timeLimit(.minutes(5))) struct ChannelTests {
    /// The bins of each channel, too: python-tuf sees `live` as any client, the others by their roles.
    @Test(arguments: [nil, 4] as [Int64?]) func eachHasAListOfItsOwn(bins: Int64?) async throws {
        let world = try await World.withChannels(bins: bins)
        for (role, version) in [(nil, 1), ("channel.beta", 2), ("channel.dev", 3)] as [(String?, Int64)] {
            let verdict = try await Judge.run(
                world.site, root: world.root, target: "packs/level.avpack",
                into: world["out"], role: role)
            #expect(verdict.exitCode == 0, "\(verdict.errorText)")
            #expect(
                try verdict.json()["target", "custom", "assetvault", "version"]?.number == version,
                "\(verdict.text)")
        }
    }

    /// A pack of a channel that is not live exists for no client of `live`.
    @Test func namesStayUnseen() async throws {
        let world = try await World.withChannels()
        try world.write("secret/file", "of the next season")
        try await world.publish("--pack secret=$WORK/secret")
        try await world.promote("secret", from: "dev", to: "beta").succeeded()
        let verdict = try await Judge.run(
            world.site, root: world.root, target: "packs/secret.avpack",
            into: world["out"])
        #expect(verdict.exitCode == 1 && verdict.errorText.contains("is not listed"), "\(verdict.errorText)")
    }

    /// What is live stays live when a site gets channels, other ones, bins in them, or none again.
    @Test func channelsComeAndGo() async throws {
        let world = try await World("level")
        let readers = try await Readers(of: world)
        let live = try Tree(world["level"])
        try world.write("level/file", "the next version")
        let changes: [(JSONValue?, Int64?)] = [
            (["beta", "live"], nil), (["beta", "live"], 4), (["dev", "beta", "live"], nil),
            (["dev", "live"], 4),
        ]
        for (step, (channels, bins)) in changes.enumerated() {
            try world.settings {
                $0["channels"] = channels
                $0["bins"] = bins.map { .integer($0) }
            }
            try await world.publish()
            try await readers.expectBelief(seeing: [live], withPython: step == 3, "step \(step)")
            try await readers.follow(withPython: false)
            try await world.expectNothingToPublish("step \(step)")
        }
        try world.settings {
            $0["channels"] = nil
            $0["bins"] = nil
        }
        try await world.publish()
        try await readers.expectBelief(seeing: [Tree(world["level"])])
    }
}
