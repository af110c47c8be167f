import AssetVault
import Testing

/// What an app learns of packs whose key is wrong, or missing.
@Suite(.timeLimit(.minutes(5))) struct AwaitedKeyTests {
    private let world: World
    private let one = PackID.one
    private let path: EntryPath

    init() async throws {
        world = try await World.withPacks()
        path = try EntryPath("noise")
    }

    private var otherKey: InMemoryKeyProvider {
        get throws {
            let key = String(repeating: "A", count: 43)
            let jwk = Array(#"{"kty": "oct", "kid": "other", "alg": "A256KW", "k": "\#(key)"}"#.utf8)
            return InMemoryKeyProvider(try KeyRing(parsingJWK: SecretBytes(copying: jwk.span), place: "test"))
        }
    }

    private func client(_ keys: (any KeyProvider)?) throws -> VaultClient {
        return try world.client(keys: false) { $0.keys = keys }
    }

    /// A prefetch pack is not downloaded; one that is asked for is, and waits.
    @Test(arguments: [false, true]) func aWrongKey(isNamed: Bool) async throws {
        let client = try client(otherKey)
        let report = try await client.fetch(isNamed ? .only([one]) : .automatic)
        let pack = try #require(report.awaitingKey.first)
        #expect(report.awaitingKey.count == 1)
        #expect(pack.id == one && pack.isLocked && pack.isDownloaded == isNamed)
        #expect(try await pack.keyIDs == client.pack(withID: one).slots.map(\.keyID))
        #expect(await category { try report.requireKeys() } == .key)
        let error = try #require(await thrown { _ = try await client.store.contents(of: path, in: one) })
        #expect(error.category == .key && error.problem.contains("does not open it"), "\(error)")
        #expect(error.problem.contains("'other'"), "\(error)")
        let fixed = try world.client()
        try await fixed.fetch().requireKeys()
        #expect(try await fixed.store.contents(of: path, in: one) == World.one)
    }

    /// What waits is here.
    @Test func aKeyThatComesWhereNoNetworkIsAllowed() async throws {
        let client = try client(nil)
        _ = try await client.fetch()
        client.network = .none
        #expect(try await client.unlock(with: world.place.keys) == [one])
        #expect(try await client.store.contents(of: path, in: one) == World.one)
    }

    @Test func noKey() async throws {
        let client = try client(nil)
        let report = try await client.fetch()
        let pack = try #require(report.awaitingKey.first)
        #expect(pack.id == one && !pack.isLocked && pack.isDownloaded)
        #expect(await category { _ = try await client.store.contents(of: path, in: one) } == .key)
        #expect(
            await category { _ = try await client.store.contents(of: path, in: PackID("none")) } == .missing)
    }
}
