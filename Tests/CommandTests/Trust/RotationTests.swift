import Testing
import VaultBase

/// A role's key is replaced, and every reader follows.
struct RotationTests {
    let world: World

    init() async throws {
        world = try await World()
        try world.write("level/file", "version 1")
    }

    static let cases: [(role: String, count: Int64?)] =
        ["root", "timestamp", "snapshot", "targets"].map { ($0, nil) } + [("targets", 4), ("timestamp", 4)]

    /// The role's metadata are signed by both keys until the next publication, then by the new one alone.
    @Test(arguments: cases) func everyReaderFollows(role: String, count: Int64?) async throws {
        if let count { try world.settings { $0["bins"] = .integer(count) } }
        try await world.publish("--pack level=$WORK/level")
        let readers = try await Readers(of: world)
        let tree = try Tree(world["level"])
        let first = try world.bytes("vault/trusted-root.json")
        let old = try #require(try await world.roles()[role]?.keys)
        try await world.trust("rotate \(role)").succeeded()
        let new = try #require(try await world.roles()[role]?.keys)
        #expect(new.count == 1 && new.isDisjoint(with: old))
        #expect(try await world.roles()["root"]?.version == 2)
        #expect(try world.bytes("vault/trusted-root.json") == first, "clients go on pinning the first root")
        #expect(try await world.signers(of: role) == old.union(new))
        // The targets name the bins' keys, in the same step.
        let bins = try await world.roles().keys.filter { role == "targets" && $0.hasPrefix("packs") }
        for name in bins { #expect(try await world.signers(of: name) == new, "\(name)") }
        try await readers.expectBelief(seeing: [tree])

        try await world.publish()
        // A root stays signed by the keys of the root before: that is how clients follow.
        if role != "root" { #expect(try await world.signers(of: role) == new) }
        try await readers.expectBelief(seeing: [tree])
        try await world.expectNothingToPublish()
        #expect(try world.pending() == [])
    }

    /// A client that missed several rotations follows them all.
    @Test func severalRotationsInARow() async throws {
        try await world.publish("--pack level=$WORK/level")
        let readers = try await Readers(of: world)
        for role in ["root", "timestamp", "root", "snapshot", "targets", "root"] {
            try await world.trust("rotate \(role)").succeeded()
        }
        try await readers.expectBelief(seeing: [Tree(world["level"])])
        try await world.publish(level: "version 2")
        try await readers.expectBelief(seeing: [Tree(world["level"])])
    }

    /// The old key's file is kept under the beginning of its ID; the fresh one has its name and mode.
    @Test func theOldKeyFileIsKept() async throws {
        try await world.publish("--pack level=$WORK/level")
        let old = try world.bytes("vault/keys/timestamp.pem")
        let id = try #require(try await world.roles()["timestamp"]?.keys.first)
        try await world.trust("rotate timestamp").succeeded()
        #expect(try world.bytes("vault/keys/timestamp.\(id.prefix(8)).pem") == old)
        #expect(try world.bytes("vault/keys/timestamp.pem") != old)
        #expect(try world.permissions("vault/keys/timestamp.pem") == 0o600)
        #expect(try !world.exists("vault/keys/timestamp.next.pem"))
    }
}
