public import VaultBase

/// A source of keys: an app's own store, a secret of the platform, a key service.
///
/// An app that only opens packs implements `keys(for:)` alone, and returns the key once the player is entitled to it.
/// It is called often and concurrently, so a slow provider should cache.
public protocol KeyProvider: Sendable {
    /// The candidates for one key ID, empty when the provider has none. The ID of a content key that is
    /// injected by itself is the base64url of its content key ID.
    ///
    /// - Throws: ``VaultBase/VaultError``, usually of category `key`, without any secret in its text.
    func keys(for id: KeyID) async throws(VaultError) -> KeyRing

    /// All keys of the provider, for sealing: a pack opens with each of its vault keys.
    func allKeys() async throws(VaultError) -> KeyRing

    /// The IDs of the present keys, if they are known without a request: for messages, and to find packs whose key is
    /// missing before they are downloaded. Nil if each ID must be looked up.
    func knownKeyIDs() async -> [KeyID]?

    /// The candidates for one key ID that are found without a request: empty where each ID must be looked up.
    func listedKeys(for id: KeyID) async throws(VaultError) -> KeyRing
}

extension KeyProvider {
    /// Throws, as sealing needs a list of keys.
    public func allKeys() async throws(VaultError) -> KeyRing {
        throw VaultError(
            .key, "this key provider can't list its keys", at: "key provider",
            remedy: "seal with a provider that can list its keys")
    }

    public func knownKeyIDs() async -> [KeyID]? { nil }

    public func listedKeys(for id: KeyID) async throws(VaultError) -> KeyRing {
        guard let known = await knownKeyIDs(), known.contains(id) else { return KeyRing() }
        return try await keys(for: id)
    }
}

extension Finding.Code {
    /// A key service does not accept the token: another one may be.
    public static let keyTokenRefused: Finding.Code = "key-token-refused"
    /// A key service knows the player, who may not have the key.
    public static let keyNotGranted: Finding.Code = "key-not-granted"
}

extension VaultError {
    /// Whether somebody decided that a key is not given, rather than that it could not be.
    public var isKeyRefusal: Bool { code == .keyTokenRefused || code == .keyNotGranted }
}

/// A provider that reads all its keys at once, as a key ring.
public protocol RingKeyProvider: KeyProvider {
    /// - Throws: ``VaultBase/VaultError``, usually of category `key`, without any secret in its text.
    func ring() async throws(VaultError) -> KeyRing
}

extension RingKeyProvider {
    public func keys(for id: KeyID) async throws(VaultError) -> KeyRing { try await ring().keys(for: id) }
    public func allKeys() async throws(VaultError) -> KeyRing { try await ring() }
    public func knownKeyIDs() async -> [KeyID]? { (try? await ring())?.ids }
}

/// All of several providers' candidates together, in their order; not only those of the first that answers.
public struct CombinedKeyProvider: KeyProvider {
    private let providers: [any KeyProvider]

    public init(_ providers: [any KeyProvider]) {
        self.providers = providers
    }

    /// A provider's error, such as an unreachable key service, is thrown only when no other provider has a candidate.
    public func keys(for id: KeyID) async throws(VaultError) -> KeyRing {
        try await candidates { provider async throws(VaultError) in try await provider.keys(for: id) }
    }

    public func listedKeys(for id: KeyID) async throws(VaultError) -> KeyRing {
        try await candidates { provider async throws(VaultError) in try await provider.listedKeys(for: id) }
    }

    private func candidates(
        _ found: (any KeyProvider) async throws(VaultError) -> KeyRing
    ) async throws(VaultError) -> KeyRing {
        var ring = KeyRing()
        var failure: VaultError?
        for provider in providers {
            do throws(VaultError) {
                ring.append(try await found(provider))
            } catch {
                failure = failure ?? error
            }
        }
        if ring.isEmpty, let failure { throw failure }
        return ring
    }

    /// Fails when any provider does: a pack must not be sealed for fewer keys than requested.
    public func allKeys() async throws(VaultError) -> KeyRing {
        var ring = KeyRing()
        for provider in providers {
            ring.append(try await provider.allKeys())
        }
        return ring
    }

    /// Nil if any of the providers must look up each ID: then the IDs of the others alone would be no complete answer.
    public func knownKeyIDs() async -> [KeyID]? {
        var ids: [KeyID] = []
        var seen: Set<KeyID> = []
        for provider in providers {
            guard let known = await provider.knownKeyIDs() else { return nil }
            ids += known.filter { seen.insert($0).inserted }
        }
        return ids
    }
}

/// Keys in memory.
public struct InMemoryKeyProvider: RingKeyProvider {
    private let keys: KeyRing

    public init(_ keys: KeyRing) { self.keys = keys }

    public func ring() async throws(VaultError) -> KeyRing { keys }
}

/// Keys from a closure, such as a lookup in the platform's key store.
public struct ClosureKeyProvider: KeyProvider {
    public typealias Lookup = @Sendable (KeyID?) async throws(VaultError) -> KeyRing

    private let lookup: Lookup

    /// - Parameter lookup: returns the candidates for an ID, or all keys for nil. Keys with another ID are ignored.
    public init(_ lookup: @escaping Lookup) {
        self.lookup = lookup
    }

    public func keys(for id: KeyID) async throws(VaultError) -> KeyRing {
        try await lookup(id).keys(for: id)
    }

    public func allKeys() async throws(VaultError) -> KeyRing {
        try await lookup(nil)
    }
}
