public import VaultErrors

/// Asks another provider once for each key ID, and once for all keys; every later question gets the same answer, a failure
/// too. For one run of a program: a key that arrives later is not seen.
public actor CachingKeyProvider: KeyProvider {
    private typealias Answer = Task<Result<KeyRing, VaultError>, Never>

    private let provider: any KeyProvider
    private var answers: [KeyID: Answer] = [:]
    private var everyKey: Answer?

    public init(_ provider: any KeyProvider) {
        self.provider = provider
    }

    public func keys(for id: KeyID) async throws(VaultError) -> KeyRing {
        let provider = provider
        let answer =
            answers[id] ?? Self.ask { () throws(VaultError) in try await provider.keys(for: id) }
        answers[id] = answer
        return try await answer.value.get()
    }

    public func allKeys() async throws(VaultError) -> KeyRing {
        let provider = provider
        let answer = everyKey ?? Self.ask { () throws(VaultError) in try await provider.allKeys() }
        everyKey = answer
        return try await answer.value.get()
    }

    /// Nobody is asked for that.
    public func knownKeyIDs() async -> [KeyID]? { await provider.knownKeyIDs() }

    /// A task of its own: of several that wait for the answer, one that is cancelled takes it from nobody.
    private static func ask(_ question: @escaping @Sendable () async throws(VaultError) -> KeyRing) -> Answer
    {
        Task {
            do throws(VaultError) { return .success(try await question()) } catch { return .failure(error) }
        }
    }
}
