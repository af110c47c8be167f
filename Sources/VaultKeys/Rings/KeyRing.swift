import VaultBytes
import VaultCrypto

/// Keys of both kinds, in the order in which they were given.
///
/// Several keys may have one ID when they come from several sources: whoever opens a pack tries each, so
/// that a wrong key never shadows the right one. Within one JWK Set an ID stands once.
public struct KeyRing: Sendable {
    public private(set) var vaultKeys: [VaultKey]
    public private(set) var contentKeys: [InjectedContentKey]

    /// The bytes that one file, variable or command output may have: 1 MiB.
    public static let byteLimit = 1 << 20

    public init(vaultKeys: [VaultKey] = [], contentKeys: [InjectedContentKey] = []) {
        self.vaultKeys = []
        self.contentKeys = []
        for key in vaultKeys { append(key) }
        for key in contentKeys { append(key) }
    }

    public var isEmpty: Bool { vaultKeys.isEmpty && contentKeys.isEmpty }

    /// Each once, in the order of the keys.
    public var ids: [KeyID] {
        var ids: [KeyID] = []
        for id in vaultKeys.map(\.id) + contentKeys.map(\.id) where !ids.contains(id) { ids.append(id) }
        return ids
    }

    /// The keys with this ID.
    public func keys(for id: KeyID) -> KeyRing {
        KeyRing(vaultKeys: vaultKeys.filter { $0.id == id }, contentKeys: contentKeys.filter { $0.id == id })
    }

    /// Adds what `other` holds and this ring does not.
    public mutating func append(_ other: KeyRing) {
        for key in other.vaultKeys { append(key) }
        for key in other.contentKeys { append(key) }
    }

    /// The same key given twice counts once.
    mutating func append(_ key: VaultKey) {
        guard !vaultKeys.contains(where: { $0.id == key.id && $0.secret.equals(key.secret) }) else { return }
        vaultKeys.append(key)
    }

    mutating func append(_ key: InjectedContentKey) {
        guard !contentKeys.contains(where: { $0.id == key.id && $0.secret.equals(key.secret) }) else {
            return
        }
        contentKeys.append(key)
    }

    func holds(_ id: KeyID) -> Bool {
        vaultKeys.contains { $0.id == id } || contentKeys.contains { $0.id == id }
    }
}

extension SecretBytes {
    fileprivate func equals(_ other: borrowing SecretBytes) -> Bool {
        withBytes { left in other.withBytes { right in Self.constantTimeEqual(left, right) } }
    }
}
