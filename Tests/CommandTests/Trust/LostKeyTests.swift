import Testing

/// A lost key is replaced with the root's key, and no client is locked out.
struct LostKeyTests {
    @Test(arguments: ["timestamp", "snapshot", "targets"], [0, 28, 40])
    func aLostKeyIsReplaced(role: String, days: Int) async throws {
        let world = try await World(level: "version 1")
        try await world.fetch().succeeded()
        let lost = try #require(try await world.roles()[role]?.keys.first)
        try world.takeAway("\(role).pem")
        let fresh = try await world.makeKey("fresh")
        try await Tool.run("mv", fresh.key, world["vault/keys/\(role).pem"])
        // Pending changes are published, too.
        try world.write("level/file", "version 2")

        let then = try Clock.shifted(byDays: days)
        let vault = world.vault
        try await world.run("trust add-key \(vault) \(role) \(fresh.publicKey)", through: then).succeeded()
        try await world.publish(through: then)
        try await world.fetch(through: then).succeeded()
        try await world.run("trust remove-key \(vault) \(role) \(lost)", through: then).succeeded()
        try await world.publish(through: then)
        try await world.fetch(through: then).succeeded()
        try await world.fetch(into: world["new"], through: then).succeeded()
        try await world.expectLoaded("level")
        #expect(try await world.roles()[role]?.keys.contains(lost) == false)
    }
}
