import Foundation
import Testing

/// No plaintext, in published or stored bytes, without a key.
struct PlaintextTests {
    let world: World
    /// Content and file names, which no client without a key may store.
    private let plain: [[UInt8]]

    init() async throws {
        world = try await World()
        let noise = Bytes.random(300_000, seed: 1)
        try world.write(
            "level/very-secret-name.txt", String(repeating: "the plot of the story; ", count: 40))
        try world.write("level/noise", noise)
        plain = [
            Array("very-secret-name".utf8), Array("the plot of the story".utf8), Array(noise.prefix(24)),
            Array(noise[150_000..<150_024]),
        ]
    }

    private func expectNoPlaintext(below path: String) throws {
        let tree = try Tree(path)
        #expect(!tree.files.isEmpty)
        for needle in plain { #expect(try tree.files(holding: needle) == [], "\(path)") }
    }

    @Test(arguments: [[], ["--sealed"]]) func noPlaintextWithoutAKey(options: [String]) async throws {
        try await world.publish("--pack level=$WORK/level")
        #expect(try Tree(world["level"]).files(holding: plain[1]) == ["very-secret-name.txt"])
        let fetch: Words = "fetch $SITE $STORE $TRUST"
        try await world.run("\(fetch) \(options)").succeeded()
        try expectNoPlaintext(below: world.store)
        try expectNoPlaintext(below: world.site)
        // Kept sealed, it stays so with the key, too.
        try await world.fetch("--sealed").succeeded()
        try expectNoPlaintext(below: world.store)
    }

    /// The right key is missing or wrong: the downloaded pack is kept, sealed.
    @Test func aWrongKeyOpensNothing() async throws {
        try await world.publish("--pack level=$WORK/level")
        let other = try await World()
        let fetch: Words = "fetch $SITE $STORE $TRUST"
        try await world.run("\(fetch) --preload \(other.keys)").succeeded()
        try await world.run("\(fetch) --keys env:NOT_SET_ANYWHERE").failed(
            77, naming: "NOT_SET_ANYWHERE")
        let readable = try world.write(
            "readable.jwks", world.bytes("vault/keys/vault.jwks"), permissions: 0o644)
        try await world.run("\(fetch) --keys file:\(readable)").failed(77, naming: readable)
        try expectNoPlaintext(below: world.store)
        #expect(try Tree("\(world.store)/permanent").packs.isEmpty)
        #expect(try await world.status()["level"]?.waitingVersion == 1)
        let key = try world.bytes("vault/keys/vault.jwks")
        try await world.run(
            "\(fetch) --keys env:KEY", environment: ["KEY": String(decoding: key, as: UTF8.self)]
        ).succeeded()
        try await world.expectLoaded("level")
    }
}
