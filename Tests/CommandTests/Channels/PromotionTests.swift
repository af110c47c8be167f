import Testing
import VaultBase

/// A promotion of what a thief of a key listed; `Scripts/Channels/promotion.txt` has the publisher's own.
@Suite(.timeLimit(.minutes(5))) struct PromotionTests {
    /// A thief of the targets key put another pack into dev under a number that is live, or as one for other versions of the app: it goes
    /// no further.
    @Test(arguments: [false, true]) func otherContentOfOneVersion(isOfAnotherApp: Bool) async throws {
        let world = try await World.withChannels()
        try await world.promote("level", from: "dev", to: "live").succeeded()
        func hashes(_ digit: String) -> JSONValue {
            ["sha256": .string(String(repeating: digit, count: 64))]
        }
        let version = try await world.forge("channel.dev", key: "targets") { signed in
            try signed.change("targets", "packs/level.avpack") { record in
                var other = record
                other["hashes"] = hashes("0")
                guard isOfAnotherApp else {
                    record = other
                    return
                }
                record["hashes"] = hashes("1")
                try record.change("custom") { $0["assetvaultOthers"] = [.object(other)] }
                try record.change("custom", "assetvault") { $0["version"] = 4 }
            }
        }
        try await world.raise([], to: 0, listing: ["channel.dev": version])
        let before = try Tree(world.site)
        for words in ["--all", "level --allow-older"] as [Words] {
            try await world.promote(words, from: "dev", to: "live").failed(
                76, naming: "other content as version 3")
        }
        #expect(try Tree(world.site) == before)
    }
}
