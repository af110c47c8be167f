import Testing
import VaultBase

/// Offline keys: files wait for signatures, are signed elsewhere, and are published then.
struct OfflineKeyTests {
    let world: World

    init() async throws { world = try await World(level: "version 1") }

    private func packs() throws -> [String] { try Tree("\(world.site)/targets").files }

    /// A new pack is sealed once: the sealed pack is the published one.
    @Test func theKeyOfTheTargets() async throws {
        let readers = try await Readers(of: world)
        let (old, before) = (try Tree(world["level"]), try Tree("\(world.site)/metadata"))
        let key = try world.takeAway("targets.pem")
        try world.write("level/file", "version 2")
        try world.write("other/file", "another pack")
        try await world.run("publish $VAULT --pack other=$WORK/other").failed(
            77, naming: "targets.pem", "pending")
        #expect(try world.pending() == ["2.targets.json"])
        #expect(try Tree("\(world.site)/metadata") == before)
        try await readers.expectBelief(seeing: [old])
        let sealed = try packs()
        #expect(sealed.count == 3)

        // Publishing again changes nothing.
        let waiting = try world.bytes("vault/pending/2.targets.json")
        try await world.run("publish $VAULT").failed(77, naming: "pending")
        #expect(try packs() == sealed)
        let listed = try #require(try world.json("vault/pending/2.targets.json")["signed", "targets"])
        #expect(try listed == JSONValue(parsing: waiting.span, place: "")["signed", "targets"])

        let content = try await world.sign(world["vault/pending/2.targets.json"], with: key).errorText
        #expect(content.contains("lists packs/level.avpack version 2,"))
        #expect(content.contains("lists packs/other.avpack version 1,"))
        try await world.publish()
        #expect(try packs() == sealed)
        #expect(try world.json("vault/site/metadata/2.targets.json")["signed", "targets"] == listed)
        #expect(try world.pending() == [])
        try await readers.expectBelief(seeing: [Tree(world["level"])])
        try await world.expectNothingToPublish()
    }

    /// A new timestamp key waits for the root's signature; until then the old one is used, and packs are published.
    @Test func theKeyOfTheRoot() async throws {
        let readers = try await Readers(of: world)
        let old = try #require(try await world.roles()["timestamp"]?.keys)
        let key = try world.takeAway("root.pem")
        let rotation = try await world.trust("rotate timestamp").succeeded()
        #expect(rotation.errorText.contains("2.root.json waits for signatures"))
        #expect(try world.pending() == ["2.root.json"])
        #expect(try await world.roles()["timestamp"]?.keys == old)

        try world.write("level/file", "version 2")
        let publication = try await world.publish()
        #expect(publication.errorText.contains("2.root.json waits for signatures"))
        #expect(try await world.signers(of: "timestamp").isSuperset(of: old))
        try await readers.expectBelief(seeing: [Tree(world["level"])])

        try await world.sign(world["vault/pending/2.root.json"], with: key)
        try await world.publish()
        let new = try #require(try await world.roles()["timestamp"]?.keys)
        #expect(new.count == 1 && new.isDisjoint(with: old))
        #expect(try world.pending() == [])
        try await readers.expectBelief(seeing: [Tree(world["level"])])
        try await world.publish()
        #expect(try await world.signers(of: "timestamp") == new)
        try await readers.expectBelief(seeing: [Tree(world["level"])])
    }

    /// Two people sign copies; one signature is not enough.
    @Test func twoOfTwoPeople() async throws {
        let own = try #require(try await world.roles()["targets"]?.keys.first)
        let (alice, bob) = (try await world.makeKey("alice"), try await world.makeKey("bob"))
        for key in [alice.publicKey, bob.publicKey] {
            try await world.trust("add-key targets \(key)").succeeded()
        }
        try await world.trust("remove-key targets \(String(own.prefix(8)))").failed(77, naming: "pending")
        let readers = try await Readers(of: world)
        try await signByBoth(alice.key, bob.key, onlyOneIsEnough: true)
        try await world.trust("threshold targets 2").failed(77, naming: "pending")
        try await readers.expectBelief(seeing: [Tree(world["level"])])
        try await signByBoth(alice.key, bob.key, onlyOneIsEnough: false)
        #expect(try await world.roles()["targets"]?.threshold == 2)
        try world.write("level/file", "version 2")
        try await world.run("publish $VAULT").failed(77, naming: "pending")
        try await signByBoth(alice.key, bob.key, onlyOneIsEnough: false)
        try await readers.expectBelief(seeing: [Tree(world["level"])])
    }

    /// Each signs a copy of the pending file, the copies are merged, and it is published.
    private func signByBoth(_ one: String, _ other: String, onlyOneIsEnough: Bool) async throws {
        let name = try #require(try world.pending().first { $0.hasSuffix(".targets.json") })
        let file = world["vault/pending/\(name)"]
        for (person, key) in [("one", one), ("other", other)] {
            let copy = try world.makeFolder(person) + "/\(name)"
            try await Tool.run("cp", file, copy)
            try await world.sign(copy, with: key)
        }
        try await world.run("trust sign \(file) --merge \(world["one/\(name)"])").succeeded()
        if !onlyOneIsEnough {
            try await world.run("publish $VAULT").failed(77, naming: "pending")
            try await world.run("trust sign \(file) --merge \(world["other/\(name)"])").succeeded()
        }
        try await world.publish()
        #expect(try world.pending() == [])
    }
}
