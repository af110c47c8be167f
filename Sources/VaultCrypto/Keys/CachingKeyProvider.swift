public import VaultBase

/// Caches another provider's result for each key ID and for all keys, including failures. For one run of a program, as
/// later changes of the keys are not seen.
///
/// The publisher of packs names their keys, of any number, while a lookup may be a request to somebody or a command that
/// runs. So a run asks for a limited number of IDs. What the provider lists without a request does not count.
public actor CachingKeyProvider: KeyProvider {
    private typealias Answer = Task<Result<KeyRing, VaultError>, Never>

    /// How many key IDs one run asks a provider for.
    public static let lookupLimit = 256

    private let provider: any KeyProvider
    private let limit: Int
    private let reserved: [Set<KeyID>]
    private var answers: [KeyID: Answer] = [:]
    private var everyKey: Answer?
    private var listing: Task<[KeyID]?, Never>?
    private var counted: Set<KeyID> = []
    /// The number of counted IDs in each set of ``reserved``, and last that of all others.
    private var counts: [Int]

    /// - Parameters:
    ///   - limit: how many key IDs the provider is asked for. The lookup of any other throws `.limit`.
    ///   - reserved: IDs that matter more than others, such as those of the site's own packs, in sets of which the first matters most.
    ///     A part of the limit is kept for them, one lookup for each, up to a half of it: no number of IDs that matter less takes that.
    public init(
        _ provider: any KeyProvider, limit: Int = lookupLimit, reservingFor reserved: [Set<KeyID>] = []
    ) {
        (self.provider, self.limit, self.reserved) = (provider, limit, reserved)
        counts = Array(repeating: 0, count: reserved.count + 1)
    }

    /// Throws `.limit` for an ID that was not looked up, as the limit was reached; and what the provider throws.
    public func keys(for id: KeyID) async throws(VaultError) -> KeyRing {
        if answers[id] == nil {
            if let known = await knownKeyIDs() {
                guard known.contains(id) else { return KeyRing() }
            } else if !count(id) {
                let listed = try await provider.listedKeys(for: id)
                guard listed.isEmpty else { return listed }
                throw VaultError(
                    .limit, "no more than \(limit) keys are looked up in a run", at: "key '\(id)'",
                    remedy: "name fewer packs, or give the key as a file, which is read without a lookup")
            }
        }
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

    public func knownKeyIDs() async -> [KeyID]? {
        let provider = provider
        let known = listing ?? Task { await provider.knownKeyIDs() }
        listing = known
        return await known.value
    }

    public func listedKeys(for id: KeyID) async throws(VaultError) -> KeyRing {
        try await provider.listedKeys(for: id)
    }

    /// Asks the provider again from now on, for the IDs that it was asked for: a key may have come. The limit stays that of one run.
    public func forgetAnswers() {
        (answers, everyKey, listing) = ([:], nil, nil)
    }

    /// Counts an ID. Returns false where the limit allows no further one.
    private func count(_ id: KeyID) -> Bool {
        if counted.contains(id) { return true }
        let rank = reserved.firstIndex { $0.contains(id) } ?? reserved.count
        let kept = min(reserved[..<rank].map(\.count).reduce(0, +), limit / 2)
        guard counted.count < limit, counts[rank...].reduce(0, +) < limit - kept else { return false }
        counted.insert(id)
        counts[rank] += 1
        return true
    }

    /// An unstructured task, so that cancelling one caller does not cancel the others.
    private static func ask(_ question: @escaping @Sendable () async throws(VaultError) -> KeyRing) -> Answer
    {
        Task { await outcome(of: question) }
    }
}
