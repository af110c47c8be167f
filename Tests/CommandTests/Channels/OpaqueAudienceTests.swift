import Foundation
import Testing
import VaultBase

/// Which files a key opens where names are opaque; `Scripts/Channels/opaque-audience.txt` has who reads the names.
@Suite(.timeLimit(.minutes(5))) struct OpaqueAudienceTests {
    let world: World
    private static let audiences: JSONObject = [
        "partner": "file:keys/partner.jwks", "tester": "file:keys/tester.jwks",
    ]

    /// A film for partners in both channels.
    init() async throws {
        world = try await World()
        for name in ["film", "menu", "game"] { try world.write("\(name)/file", name) }
        for name in ["partner", "tester", "other"] { try await keygen(name) }
        try declare(["film": "partner"])
        try await world.publish()
        try await promote()
    }

    private func keygen(_ name: String) async throws {
        try await world.run("keygen -o $WORK/vault/keys/\(name).jwks").succeeded()
    }

    /// - Parameter packs: audiences by the names of packs.
    private func declare(_ packs: [String: String], _ audiences: JSONObject = audiences) throws {
        let members = packs.map {
            ("hush/\($0)", ["policy": "essential", "for": [.string($1)]] as JSONObject)
        }
        try world.declare(Dictionary(uniqueKeysWithValues: members)) {
            $0["opaqueNames"] = true
            $0["channels"] = ["dev", "live"]
            $0["audiences"] = .object(audiences)
        }
    }

    private func promote() async throws {
        try await world.run("promote $VAULT --from dev --to live --all").succeeded()
    }

    private func restore(_ channel: String, to snapshot: Int) async throws {
        try await world.run("restore $VAULT --channel \(channel) --to \(snapshot)").succeeded()
    }

    /// The packs that a new client of a channel has by one key; nil where it can't read the names.
    private func packs(in channel: String, with key: String) async throws -> Set<String>? {
        let keys = ["--keys", "file:\(world["vault/keys/\(key).jwks"])"]
        let list = try await world.run("list $SITE --channel \(channel) \(keys)")
        guard list.exitCode == 0 else {
            #expect(list.exitCode == 77, "\(list.errorText)")
            return nil
        }
        let store = world["store-\(UUID().uuidString)"]
        try await world.run("fetch $SITE --store \(store) $TRUST --channel \(channel) \(keys)").succeeded()
        return try await world.loadedNames(in: store)
    }

    private func expect(
        _ expected: [String: Set<String>], in channel: String, at location: SourceLocation = #_sourceLocation
    ) async throws {
        for key in ["partner", "tester", "other"] {
            let found = try await packs(in: channel, with: key)
            #expect(found == expected[key], "\(key) in \(channel)", sourceLocation: location)
        }
        #expect(try await packs(in: channel, with: "vault") == [], "\(channel)", sourceLocation: location)
    }

    /// A table is for the readers of the packs that its channel lists, whatever the sources are.
    @Test func eachChannelHasReadersOfItsOwn() async throws {
        try await expect(["partner": ["hush/film"]], in: "live")
        try declare(["menu": "tester"])
        try await world.publish()
        try await expect(["tester": ["hush/menu"]], in: "dev")
        try await expect(["partner": ["hush/film"]], in: "live")
        #expect(try await world.publish().errorText.contains("nothing changed"))
        // No slot of one channel opens the table of the other.
        let opened = try await world.packsOpened(by: world["vault/keys/tester.jwks"])
        #expect(opened.count == 2, "\(opened)")
        try await promote()
        for channel in ["dev", "live"] { try await expect(["tester": ["hush/menu"]], in: channel) }
    }

    private static let replaced: JSONObject = [
        "partner": "file:keys/other.jwks", "partner-leaked": "file:keys/partner.jwks",
        "tester": "file:keys/tester.jwks",
    ]

    /// The key is replaced in all channels, and the old one opens no later table.
    @Test func aReplacedKey() async throws {
        let leaked = world["vault/keys/partner.jwks"]
        func tables() throws -> Set<String> {
            try Set(Tree(world.site).files.filter { $0.hasSuffix(".assetvault.names.avpack") })
        }
        let known = try tables()
        let listed = try Set(Tree(world.site).files.filter { $0.hasSuffix(".avpack") })
        try declare(["film": "partner"], Self.replaced)
        try await world.publish()
        for channel in ["dev", "live"] { try await expect(["other": ["hush/film"]], in: channel) }
        #expect(try Set(Tree(world.site).files.filter { $0.hasSuffix(".avpack") }) == listed)
        // The old state is restored, and later names are published after it.
        try await restore("dev", to: 2)
        try await expect(["other": ["hush/film"]], in: "dev")
        try await world.run("restore $VAULT --channel dev --latest").succeeded()
        try declare(["film": "partner", "game": "partner"], Self.replaced)
        try await world.publish()
        try await expect(["other": ["hush/film", "hush/game"]], in: "dev")
        let opened = try await world.packsOpened(by: leaked)
        #expect(try tables().intersection(opened) == known)
        #expect(try tables().count == 2)
        // Names stay: the film is not sealed again.
        #expect(opened.subtracting(known) == listed.subtracting(known))
    }
}
