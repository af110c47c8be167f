import Foundation
import Testing
import VaultBase
import VaultCrypto

/// No key, in any notation, in published, stored or printed bytes; and no plaintext without a key.
struct SiteSecrecyTests {
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

    /// The vault key, the content key and the signing keys, in all notations.
    private func secrets() throws -> [[UInt8]] {
        let key = try world.json("vault/keys/vault.jwks")["keys"]?.elements?.first?["k"]?.text
        let vaultKey = try #require(key.flatMap { Base64URL.decode($0.utf8) })
        let slot = try world.json("vault/site/metadata/1.targets.json")[
            "signed", "targets", "packs/level.avpack", "custom", "assetvault", "slots"]?.elements?.first
        let wrapped = try #require(slot?["wrapped"]?.text.flatMap { Base64URL.decode($0.utf8) })
        let contentKey = try AESKeyWrap.unwrap(wrapped.span, under: SecretBytes(copying: vaultKey.span))
            .withBytes { bytes in bytes.indices.map { bytes[$0] } }
        var secrets = [vaultKey, contentKey]
        for role in ["root", "targets", "snapshot", "timestamp"] {
            let pem = try world.text("vault/keys/\(role).pem")
            let body = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
            // PKCS#8 ends with the seed of 32 bytes.
            secrets.append([UInt8](try #require(Data(base64Encoded: body)).suffix(32)))
        }
        return secrets.flatMap { secret in
            let base64 = Data(secret).base64EncodedString()
            let hex = secret.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            return [
                secret, Array(Base64URL.encode(secret.span).utf8), Array(base64.utf8), Array(hex.utf8),
                Array(hex.uppercased().utf8),
            ]
        }
    }

    private func expectNone(of needles: [[UInt8]], below path: String) throws {
        let tree = try Tree(path)
        #expect(!tree.files.isEmpty)
        for needle in needles { #expect(try tree.files(holding: needle) == [], "\(path)") }
    }

    private func expectNone(of needles: [[UInt8]], in result: CommandResult) {
        for needle in needles {
            #expect(Data(result.output + result.errors).range(of: Data(needle)) == nil)
        }
    }

    @Test func noKeyIsPrintedOrWritten() async throws {
        var results = [try await world.publish("--json --pack level=$WORK/level")]
        let secrets = try secrets()
        // The search finds present bytes.
        #expect(try Tree("\(world.vault)/keys").files(holding: secrets[1]) == ["vault.jwks"])

        results.append(try await world.fetch(withKeys: false).succeeded())
        try expectNone(of: secrets, below: world.store)
        results.append(try await world.fetch().succeeded())
        try expectNone(of: secrets, below: world.store)
        results.append(try await world.fetch("--sealed").succeeded())
        try expectNone(of: secrets, below: world.store)
        try expectNone(of: secrets, below: world.site)
        results.append(
            try await world.run("status --json $STORE").succeeded())
        for name in ["vault.json", "trusted-root.json"] {
            let bytes = try world.bytes("vault/\(name)")
            for secret in secrets { #expect(Data(bytes).range(of: Data(secret)) == nil, "\(name)") }
        }
        // Errors don't repeat secrets either.
        try world.write("other/file", "x")
        let other = try await World()
        results.append(
            try await world.run("fetch $SITE --strict --store $WORK/new $TRUST \(other.keys)"))
        #expect(results.last?.exitCode == 77)
        let key = try #require(String(bytes: secrets[1], encoding: .utf8))
        results.append(
            try await world.fetch("--keys \(key)", into: world["new"], withKeys: false).failed(64))
        for result in results { expectNone(of: secrets, in: result) }
    }

    @Test(arguments: [[], ["--sealed"]]) func noPlaintextWithoutAKey(options: [String]) async throws {
        try await world.publish("--pack level=$WORK/level")
        #expect(try Tree(world["level"]).files(holding: plain[1]) == ["very-secret-name.txt"])
        let fetch: Words = "fetch $SITE $STORE $TRUST"
        try await world.run("\(fetch) \(options)").succeeded()
        try expectNone(of: plain, below: world.store)
        try expectNone(of: plain, below: world.site)
        // Kept sealed, it stays so with the key, too.
        try await world.fetch("--sealed").succeeded()
        try expectNone(of: plain, below: world.store)
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
        try expectNone(of: plain, below: world.store)
        #expect(try Tree("\(world.store)/permanent").packs.isEmpty)
        #expect(try await world.status()["level"]?.waitingVersion == 1)
        let key = try world.bytes("vault/keys/vault.jwks")
        try await world.run(
            "\(fetch) --keys env:KEY", environment: ["KEY": String(decoding: key, as: UTF8.self)]
        ).succeeded()
        try await world.expectLoaded("level")
    }
}
