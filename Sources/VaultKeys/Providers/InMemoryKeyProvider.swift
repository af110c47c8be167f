public import VaultErrors

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
