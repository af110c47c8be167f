import VaultBytes
import VaultCrypto
public import VaultErrors

/// Keys of both kinds, in the order in which they were given.
///
/// Keys from several sources may have the same ID: all are tried, so that a wrong key never shadows the right one.
/// Within one JWK Set an ID is unique.
public struct KeyRing: Sendable {
    public private(set) var vaultKeys: [VaultKey]
    public private(set) var contentKeys: [InjectedContentKey]

    /// The largest size of one file, variable or command output: 1 MiB.
    public static let byteLimit = 1 << 20

    public init(vaultKeys: [VaultKey] = [], contentKeys: [InjectedContentKey] = []) {
        self.vaultKeys = []
        self.contentKeys = []
        for key in vaultKeys { append(key) }
        for key in contentKeys { append(key) }
    }

    public var isEmpty: Bool { vaultKeys.isEmpty && contentKeys.isEmpty }

    /// Distinct IDs in the order of the keys.
    public var ids: [KeyID] {
        var ids: [KeyID] = []
        for id in vaultKeys.map(\.id) + contentKeys.map(\.id) where !ids.contains(id) { ids.append(id) }
        return ids
    }

    /// The keys with this ID.
    public func keys(for id: KeyID) -> KeyRing {
        KeyRing(vaultKeys: vaultKeys.filter { $0.id == id }, contentKeys: contentKeys.filter { $0.id == id })
    }

    /// Adds the keys of `other` that are not in this ring.
    public mutating func append(_ other: KeyRing) {
        for key in other.vaultKeys { append(key) }
        for key in other.contentKeys { append(key) }
    }

    /// Ignores a duplicate key.
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

    /// Throws `.usage` where two vault keys have one ID. Slots name their keys by it, so who seals for both could not tell whose a slot is.
    public func requireDistinctIDs() throws(VaultError) {
        var known: [KeyID: VaultKey] = [:]
        for key in vaultKeys {
            guard let other = known.updateValue(key, forKey: key.id) else { continue }
            throw VaultError(
                .usage,
                "two different keys have the ID '\(key.id)': that of \(other.place), and that of \(key.place)",
                at: "vault keys",
                remedy: "give the new key an ID of its own, as \"kid\" of its JWK, or make one",
                hint: .makingVaultKey)
        }
    }

    func contains(_ id: KeyID) -> Bool {
        vaultKeys.contains { $0.id == id } || contentKeys.contains { $0.id == id }
    }
}

extension SecretBytes {
    fileprivate func equals(_ other: borrowing SecretBytes) -> Bool {
        withBytes { left in other.withBytes { right in Self.constantTimeEqual(left, right) } }
    }
}
