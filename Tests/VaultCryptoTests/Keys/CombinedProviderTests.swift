import SystemPackage
import Testing
import VaultBase
import VaultCrypto

@Suite("Combined providers") struct CombinedProviderTests {
    let first = SampleKey(value: 1)
    let second = SampleKey(value: 2)
    static let failing = ClosureKeyProvider { _ throws(VaultError) in
        throw VaultError(.key, "out of reach", at: "service", remedy: "wait")
    }

    @Test("all candidates in order, without duplicates")
    func order() async throws {
        let combined = CombinedKeyProvider([
            InMemoryKeyProvider(try ring(first.vaultJWK("one"))),
            InMemoryKeyProvider(try ring(jwkSet(second.vaultJWK("one"), second.vaultJWK("two")))),
            InMemoryKeyProvider(try ring(first.vaultJWK("one"))),
        ])
        #expect(try await combined.keys(for: KeyID("one")).vaultKeyBytes == [first.bytes, second.bytes])
        #expect(try await combined.allKeys().ids == ["one", "one", "two"])
    }

    @Test(
        "one that fails doesn't hide another's key, but is heard when there is none, and always for sealing")
    func failures() async throws {
        let combined = CombinedKeyProvider([
            Self.failing, InMemoryKeyProvider(try ring(first.vaultJWK("one"))),
        ])
        #expect(try await combined.keys(for: KeyID("one")).ids == ["one"])
        let unknown = await failure { _ = try await combined.keys(for: KeyID("two")) }
        #expect(unknown?.problem == "out of reach")
        let all = await failure { _ = try await combined.allKeys() }
        #expect(all?.problem == "out of reach")
    }

    @Test("an app's own provider answers by ID alone")
    func ownProvider() async throws {
        struct Purchases: KeyProvider {
            func keys(for id: KeyID) async throws(VaultError) -> KeyRing { KeyRing() }
        }
        #expect(try await Purchases().keys(for: KeyID("one")).isEmpty)
        let error = await failure { _ = try await Purchases().allKeys() }
        #expect(error?.category == .key)
    }
}
