public import VaultErrors

/// Caches another provider's result for each key ID and for all keys, including failures. For one run of a program, as
/// later changes of the keys are not seen.
public actor CachingKeyProvider: KeyProvider {
    private typealias Answer = Task<Result<KeyRing, VaultError>, Never>

    private let provider: any KeyProvider
    private let limit: Int
    private var answers: [KeyID: Answer] = [:]
    private var everyKey: Answer?

    /// - Parameter limit: how many key IDs the provider is asked for. It counts as having no key for any other: whoever publishes packs
    ///   names their keys, and may name any number.
    public init(_ provider: any KeyProvider, limit: Int = .max) {
        (self.provider, self.limit) = (provider, limit)
    }

    public func keys(for id: KeyID) async throws(VaultError) -> KeyRing {
        guard answers[id] != nil || answers.count < limit else { return KeyRing() }
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

    public func knownKeyIDs() async -> [KeyID]? { await provider.knownKeyIDs() }

    /// An unstructured task, so that cancelling one caller does not cancel the others.
    private static func ask(_ question: @escaping @Sendable () async throws(VaultError) -> KeyRing) -> Answer
    {
        Task { await outcome(of: question) }
    }
}
