import Synchronization
import Testing
import VaultErrors
import VaultKeys

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

    @Test("no more IDs are looked up than the limit says") func limit() async throws {
        let counted = try Counted()
        let provider = CachingKeyProvider(counted, limit: 2)
        #expect(try await provider.keys(for: KeyID("other")).isEmpty)
        #expect(try await !provider.keys(for: KeyID("one")).isEmpty)
        for name in ["third", "fourth"] { #expect(try await provider.keys(for: KeyID(name)).isEmpty) }
        // What is known stays so.
        #expect(try await !provider.keys(for: KeyID("one")).isEmpty)
        #expect(counted.asked.withLock { $0 } == ["other", "one"])
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
