import Synchronization
import Testing
import VaultBase
import VaultCrypto

@Suite("Caching key providers") struct CachingProviderTests {
    /// Counts the lookups, and has the key "one".
    final class Counted: KeyProvider {
        let asked = Mutex<[String]>([])
        let key: KeyRing

        init() throws { key = try ring(SampleKey(value: 7).vaultJWK("one")) }

        func keys(for id: KeyID) async throws(VaultError) -> KeyRing {
            asked.withLock { $0.append(id.description) }
            await Task.yield()
            if id.description == "failing" {
                throw VaultError(.key, "no answer", at: "service", remedy: "wait")
            }
            return key.keys(for: id)
        }

        func allKeys() async throws(VaultError) -> KeyRing {
            asked.withLock { $0.append("all") }
            await Task.yield()
            return key
        }
    }

    @Test("no more IDs are looked up than the limit says, and the others are said to be so") func limit()
        async throws
    {
        let counted = try Counted()
        let provider = CachingKeyProvider(counted, limit: 2)
        #expect(try await provider.keys(for: KeyID("other")).isEmpty)
        #expect(try await !provider.keys(for: KeyID("one")).isEmpty)
        for name in ["third", "fourth"] {
            let error = await failure { _ = try await provider.keys(for: KeyID(name)) }
            #expect(error?.category == .limit, "\(String(describing: error))")
        }
        // What is known stays so.
        #expect(try await !provider.keys(for: KeyID("one")).isEmpty)
        #expect(counted.asked.withLock { $0 } == ["other", "one"])
        // Another attempt asks for the same IDs, and for no others.
        await provider.forgetAnswers()
        for name in ["one", "fifth"] { _ = try? await provider.keys(for: KeyID(name)) }
        #expect(counted.asked.withLock { $0 } == ["other", "one", "one"])
    }

    @Test("a part of the limit is kept for reserved IDs") func reservedIDs() async throws {
        let counted = try Counted()
        let provider = CachingKeyProvider(counted, limit: 4, reservingFor: [[try KeyID("one")]])
        for number in 0..<10 { _ = try? await provider.keys(for: KeyID("made-up-\(number)")) }
        #expect(try await !provider.keys(for: KeyID("one")).isEmpty)
        #expect(counted.asked.withLock { $0 } == ["made-up-0", "made-up-1", "made-up-2", "one"])
        // However many are reserved, half of it is for others.
        let many = Set(try (0..<10).map { try KeyID("own-\($0)") })
        let shared = CachingKeyProvider(counted, limit: 4, reservingFor: [many])
        for name in ["a", "b"] { _ = try await shared.keys(for: KeyID(name)) }
        #expect(await failure { _ = try await shared.keys(for: KeyID("c")) }?.category == .limit)
        // Those that matter most are not taken by any others.
        let ranked = CachingKeyProvider(counted, limit: 4, reservingFor: [[try KeyID("one")], many])
        for id in many { _ = try? await ranked.keys(for: id) }
        #expect(try await !ranked.keys(for: KeyID("one")).isEmpty)
    }

    @Test("listed keys are found beyond the limit") func listedKeys() async throws {
        let counted = try Counted()
        let listed = InMemoryKeyProvider(try ring(SampleKey(value: 8).vaultJWK("listed")))
        for providers in [[listed, counted], [counted, listed]] as [[any KeyProvider]] {
            let provider = CachingKeyProvider(CombinedKeyProvider(providers), limit: 1)
            #expect(try await provider.keys(for: KeyID("other")).isEmpty)
            #expect(try await provider.keys(for: KeyID("listed")).ids == ["listed"])
            #expect(await failure { _ = try await provider.keys(for: KeyID("one")) }?.category == .limit)
        }
        // Nothing counts where all are listed.
        let provider = CachingKeyProvider(listed, limit: 1)
        for number in 0..<10 { #expect(try await provider.keys(for: KeyID("made-up-\(number)")).isEmpty) }
        #expect(try await provider.keys(for: KeyID("listed")).ids == ["listed"])
    }

    @Test("each ID is looked up once, whatever the result")
    func once() async throws {
        let counted = try Counted()
        let provider = CachingKeyProvider(counted)
        for _ in 0..<3 {
            #expect(try await provider.keys(for: KeyID("one")).ids == ["one"])
            #expect(try await provider.keys(for: KeyID("two")).isEmpty)
            #expect(try await provider.allKeys().ids == ["one"])
            let error = await failure { _ = try await provider.keys(for: KeyID("failing")) }
            #expect(error?.problem == "no answer")
        }
        #expect(counted.asked.withLock { $0 } == ["one", "two", "all", "failing"])
    }

    @Test("concurrent lookups share one request")
    func concurrent() async throws {
        let counted = try Counted()
        let provider = CachingKeyProvider(counted)
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<50 { group.addTask { try await provider.keys(for: KeyID("one")).ids } }
            for try await ids in group { #expect(ids == ["one"]) }
        }
        #expect(counted.asked.withLock { $0 } == ["one"])
    }
}
