public import VaultErrors

/// Keys that the program holds already.
public struct InMemoryKeyProvider: RingKeyProvider {
    private let keys: KeyRing

    public init(_ keys: KeyRing) { self.keys = keys }

    public func ring() async throws(VaultError) -> KeyRing { keys }
}

/// Keys by a closure, such as a look-up in the platform's own key store.
public struct ClosureKeyProvider: KeyProvider {
    public typealias Lookup = @Sendable (KeyID?) async throws(VaultError) -> KeyRing

    private let lookup: Lookup

    /// - Parameter lookup: gives the candidates for an ID, or every key for nil. Of what it gives, only keys
    ///   with the wanted ID are used.
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
