import Foundation
import SystemPackage
import Testing
import VaultBase

@testable import VaultCrypto

@Suite("Folders of secrets") struct DirectoryProviderTests {
    let folder: TestFolder
    let key = SampleKey(value: 7)
    var provider: DirectoryKeyProvider { DirectoryKeyProvider(path: folder.path) }

    init() throws {
        folder = try TestFolder()
    }

    @Test("one key per file, with every suffix, and readable by others")
    func names() async throws {
        for (number, name) in ["k0", "k1.jwk", "k2.json", "k3.jwks"].enumerated() {
            try folder.write(key.vaultJWK("k\(number)"), to: name, mode: 0o644)
        }
        #expect(try await provider.allKeys().ids == ["k0", "k1", "k2", "k3"])
        for number in 0..<4 {
            #expect(try await provider.keys(for: KeyID("k\(number)")).vaultKeyBytes == [key.bytes])
        }
    }

    @Test("all candidates for one ID, so that a wrong key shadows none")
    func candidates() async throws {
        try folder.write(SampleKey(value: 1).vaultJWK("one"), to: "one")
        try folder.write(jwkSet(key.vaultJWK("one")), to: "vault.jwks")
        let found = try await provider.keys(for: KeyID("one")).vaultKeyBytes
        #expect(found == [SampleKey(value: 1).bytes, key.bytes])
    }

    @Test("other secrets in the folder are skipped")
    func otherSecrets() async throws {
        try folder.write(key.vaultJWK("one"), to: "one")
        try folder.write("hunter2", to: "db-password")
        try folder.write("", to: "empty")
        try folder.write(#"{"type":"service_account","private_key":"x"}"#, to: "cloud.json")
        try folder.write("-----BEGIN", to: "tls.key")
        try folder.write(SampleKey(value: 1).vaultJWK("hidden"), to: ".hidden")
        try folder.write(SampleKey(value: 1).vaultJWK("inside"), to: "folder/inside")
        try folder.write(String(repeating: "{", count: 2 << 20), to: "large")
        #expect(unsafe mkfifo(folder.path.appending("pipe").string, 0o600) == 0)
        #expect(try await provider.allKeys().ids == ["one"])
    }

    @Test(
        "files with key suffixes or JWKs must be valid",
        arguments: ["one.jwk", "one.jwks", "one.json", "one"])
    func malformed(_ name: String) async throws {
        let file = try folder.write(String(key.vaultJWK("one").dropLast()), to: name)
        let error = await failure { _ = try await provider.keys(for: KeyID("two")) }
        #expect(error?.category == .key)
        #expect(error?.place == file.string)
    }

    @Test("a Kubernetes volume, before and after an update")
    func kubernetes() async throws {
        try folder.write(key.vaultJWK("one"), to: "..2026_01_31/vault.jwk")
        try folder.link("..data", to: "..2026_01_31")
        try folder.link("vault.jwk", to: "..data/vault.jwk")
        #expect(try await provider.allKeys().ids == ["one"])

        try folder.write(key.vaultJWK("two"), to: "..2026_02_01/vault.jwk")
        try FileManager.default.removeItem(atPath: folder.path.appending("..data").string)
        try folder.link("..data", to: "./..2026_01_31/../..2026_02_01")
        #expect(try await provider.allKeys().ids == ["two"])
    }

    @Test(
        "links that lead outside, in circles or nowhere are refused",
        arguments: ["../outside/key", "..data/../../outside/key", "/data/x", "circle", "nothing"])
    func links(_ target: String) async throws {
        let outer = try TestFolder()
        try outer.write(key.vaultJWK("one"), to: "outside/key")
        try outer.write("x", to: "secrets/data/x")
        try outer.link("secrets/..data", to: "data")
        if target == "circle" { try outer.link("secrets/circle", to: "./circle") }
        try outer.link("secrets/key", to: target)
        let error = await failure {
            _ = try await DirectoryKeyProvider(path: outer.path.appending("secrets")).keys(for: KeyID("one"))
        }
        #expect(error?.category == .key)
        #expect(error?.problem.contains(target == "nothing" ? "broken link" : "to outside") == true)
    }

    @Test("a name without a file is no broken link")
    func missingName() async throws {
        let error = await failure { _ = try SecretFolder(path: folder.path).open("nothing") }
        #expect(error?.category == .key)
        #expect(error?.problem == "does not exist")
    }

    @Test("a missing folder is a key error")
    func missing() async throws {
        let error = await failure {
            _ = try await DirectoryKeyProvider(path: folder.path.appending("nothing")).allKeys()
        }
        #expect(error?.category == .key)
    }
}
