public import VaultBase

/// Keys of both kinds, in the order in which they were given.
///
/// Keys from several sources may have the same ID: all are tried, so that a wrong key never shadows the right one.
/// Within one JWK Set an ID is unique.
public struct KeyRing: Sendable {
    public private(set) var vaultKeys: [VaultKey]
    public private(set) var contentKeys: [InjectedContentKey]
    /// What the text that it was read from holds beside its keys, for messages.
    private(set) var others: [String] = []
    /// The IDs of all keys: a ring may have thousands.
    private var known: Set<KeyID> = []

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
        var known: Set<KeyID> = []
        return (vaultKeys.map(\.id) + contentKeys.map(\.id)).filter { known.insert($0).inserted }
    }

    /// The keys with this ID.
    public func keys(for id: KeyID) -> KeyRing {
        KeyRing(vaultKeys: vaultKeys.filter { $0.id == id }, contentKeys: contentKeys.filter { $0.id == id })
    }

    /// The ring without the vault keys with these IDs.
    public func without(_ ids: Set<KeyID>) -> KeyRing {
        KeyRing(vaultKeys: vaultKeys.filter { !ids.contains($0.id) }, contentKeys: contentKeys)
    }

    /// The ring without the keys of both kinds that have this ID.
    func removing(_ id: KeyID) -> KeyRing {
        KeyRing(vaultKeys: vaultKeys.filter { $0.id != id }, contentKeys: contentKeys.filter { $0.id != id })
    }

    /// Adds the keys of `other` that are not in this ring.
    public mutating func append(_ other: KeyRing) {
        for key in other.vaultKeys { append(key) }
        for key in other.contentKeys { append(key) }
    }

    /// Ignores a duplicate key.
    mutating func append(_ key: VaultKey) {
        guard
            known.insert(key.id).inserted
                || !vaultKeys.contains(where: { $0.id == key.id && $0.secret.equals(key.secret) })
        else { return }
        vaultKeys.append(key)
    }

    mutating func append(_ key: InjectedContentKey) {
        guard
            known.insert(key.id).inserted
                || !contentKeys.contains(where: { $0.id == key.id && $0.secret.equals(key.secret) })
        else { return }
        contentKeys.append(key)
    }

    /// Throws `.usage` where two vault keys have one ID. A slot names its key by the ID, so with both keys it would be ambiguous.
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
        known.contains(id)
    }
}

extension VaultError {
    static func encryptedKeys(at place: String) -> VaultError {
        VaultError(
            .key, "the keys are encrypted", at: place, remedy: "give their passphrase", hint: .passphrase)
    }
}

extension SecretBytes {
    fileprivate func equals(_ other: borrowing SecretBytes) -> Bool {
        withBytes { left in other.withBytes { right in Self.constantTimeEqual(left, right) } }
    }
}

extension KeyRing {
    /// Reads one JWK or a JWK Set (RFC 7517) strictly: duplicate members, duplicate kids and unsuitable symmetric keys
    /// are refused. Keys of other types in a set are skipped.
    ///
    /// - Parameters:
    ///   - place: the source, for errors.
    ///   - passphrase: for a JWE of them (RFC 7517, section 7), encrypted with a passphrase (RFC 7518, section 4.8).
    /// - Throws: ``VaultBase/VaultError`` of category `key`, which contains nothing of a key but its ID.
    public init(
        parsingJWK text: borrowing SecretBytes, place: String, passphrase: PassphraseSource? = nil
    ) throws(VaultError) {
        guard let ring = try KeyRing(ifJWK: text, place: place, passphrase: passphrase) else {
            throw VaultError(
                .key, "contains neither a JWK (\"kty\") nor a JWK Set (\"keys\")", at: place,
                remedy: "write the key as JWK (RFC 7517)", hint: .makingVaultKey)
        }
        self = ring
    }

    /// Nil for a JSON object that is not a JWK or JWK Set, nor a JWE.
    init?(ifJWK text: borrowing SecretBytes, place: String, passphrase: PassphraseSource?) throws(VaultError)
    {
        if let file = try EncryptedKeyFile(ifIn: text, place: place) {
            guard let passphrase else { throw .encryptedKeys(at: place) }
            self = try passphrase.open(file, place: place)
            return
        }
        guard let ring = try KeyRing(unencrypted: text, place: place) else { return nil }
        self = ring
    }

    /// Nil for a JSON object that is not a JWK or JWK Set.
    init?(unencrypted text: borrowing SecretBytes, place: String) throws(VaultError) {
        let read: KeyRing?
        do throws(VaultError) {
            read = try text.withBytes { (source) throws(VaultError) in try Self.read(source, place: place) }
        } catch {
            guard error.category != .key else { throw error }
            guard !text.withBytes(Self.isPEM) else {
                throw VaultError(
                    .key, "is not a JWK or JWK Set, but a PEM file, as signing keys are",
                    at: error.place,
                    remedy: "name the file of a vault key, such as keys/vault.jwks")
            }
            throw VaultError(
                .key, "is not a JWK or JWK Set (\(error.problem))", at: error.place,
                remedy: "write the key as JWK (RFC 7517)", hint: .makingVaultKey)
        }
        guard let read else { return nil }
        self = read
    }

    private static func isPEM(_ text: Span<UInt8>) -> Bool {
        let begin = "-----BEGIN "
        return text.count >= begin.utf8.count
            && zip(begin.utf8, text.indices).allSatisfy { byte, index in text[index] == byte }
    }

    private static func read(_ source: Span<UInt8>, place: String) throws(VaultError) -> KeyRing? {
        var reader = JSONReader(place: place)
        guard try reader.next(in: source) == .beginObject else {
            throw VaultError(
                .key, "is not a JWK or JWK Set", at: place, remedy: "write the key as JWK (RFC 7517)")
        }
        let outer = try JWKMembers(from: &reader, in: source, place: place, canBeSet: true)
        _ = try reader.next(in: source)

        var ring = KeyRing()
        switch (outer.type, outer.elements) {
        case (nil, nil): return nil
        case (_?, nil): try ring.append(outer, in: source, place: place)
        case (nil, let elements?):
            ring.others = outer.quotedOthers
            for element in elements {
                guard element.isSymmetric else {
                    ring.others.append("the JWK '\((element.id ?? element.type ?? "").excerpt)'")
                    continue
                }
                try ring.append(element, in: source, place: place)
            }
        case (_?, _?):
            throw VaultError(
                .key, "is a JWK and a JWK Set at once", at: place, remedy: "remove either \"kty\" or \"keys\""
            )
        }
        return ring
    }

    private mutating func append(
        _ members: JWKMembers, in source: Span<UInt8>, place: String
    ) throws(VaultError) {
        let secret = try members.secret(in: source, place: place)
        others += members.quotedOthers
        let id: KeyID
        if let text = members.id {
            id = try KeyID(text, place: place)
        } else {
            id = try KeyID(members.thumbprint(in: source), place: place)
        }
        guard !contains(id) else {
            throw VaultError(.key, "two keys have the kid '\(id)'", at: place, remedy: "remove one of them")
        }
        switch try members.purpose(place: place) {
        case .wrapping: append(try VaultKey(id: id, secret: secret, place: place))
        case .content: append(try InjectedContentKey(id: id, secret: secret, place: place))
        }
    }
}
