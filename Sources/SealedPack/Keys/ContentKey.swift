public import VaultBase
public import VaultCrypto

/// The key of one pack ID, and the keys derived from it: `HKDF-Expand-SHA-512(content key,
/// "assetvault/v1/" || name)` (RFC 5869, section 2.3). A class, so that the secret bytes exist once.
public final class ContentKey: Sendable {
    public static let count = 32

    public let id: ContentKeyID
    let secret: SecretBytes
    /// Cobblestone input keys.
    let pieceKey: SecretBytes
    package let catalogKey: SecretBytes
    /// HMAC-SHA-256 keys.
    let saltKey: SecretBytes
    package let cutKey: SecretBytes
    private let nameKey: SecretBytes

    /// Throws `.key` unless `secret` has 32 bytes.
    init(_ secret: consuming SecretBytes) throws(VaultError) {
        guard secret.count == Self.count else {
            throw VaultError(
                .key, "a content key has \(Self.count) bytes", at: "content key",
                remedy: "inject the right key")
        }
        let name = try Self.derive("key-id", count: ContentKeyID.count, from: secret)
        pieceKey = try Self.derive("piece", count: 32, from: secret)
        catalogKey = try Self.derive("catalog", count: 32, from: secret)
        saltKey = try Self.derive("salt", count: 32, from: secret)
        cutKey = try Self.derive("cut", count: 32, from: secret)
        nameKey = try Self.derive("name", count: 32, from: secret)
        var bytes: [UInt8] = []
        name.withBytes { bytes.append(copying: $0) }
        id = try ContentKeyID(bytes, place: "content key")
        self.secret = secret
    }

    /// A fresh random key.
    public static func generate() throws(VaultError) -> ContentKey {
        try ContentKey(SecretBytes(randomLength: count))
    }

    /// The key by itself, for a provider of keys.
    public func injected() throws(VaultError) -> InjectedContentKey {
        try InjectedContentKey(contentKeyID: id.bytes, secret: secret.copy())
    }

    /// A name for a text that reveals nothing about it without this key: the first 128 bits of its HMAC-SHA-256, in hexadecimal.
    public func opaqueName(of text: String) -> String {
        var authenticator = HMACSHA256(key: nameKey)
        return String(authenticator.authenticate(Array(text.utf8).span).hex.prefix(32))
    }

    private static func derive(_ name: String, count: Int, from secret: borrowing SecretBytes)
        throws(VaultError)
        -> SecretBytes
    {
        let info = Array("assetvault/v1/\(name)".utf8)
        return try HKDF.expandSHA512(secret, info: info.span, count: count)
    }
}

/// The public ID of a content key: 16 bytes derived from it, so a key can be verified by its ID.
public struct ContentKeyID: Hashable, Sendable, CustomStringConvertible {
    public static let count = 16

    public let bytes: [UInt8]

    /// Throws `.corrupt` unless there are 16 bytes.
    public init(_ bytes: [UInt8], place: String) throws(VaultError) {
        guard bytes.count == Self.count else {
            throw VaultError(
                .corrupt, "a content key ID has \(Self.count) bytes", at: place,
                remedy: "get the manifest again")
        }
        self.bytes = bytes
    }

    /// Reads the unpadded base64url form. Throws `.corrupt`.
    public init(_ text: String, place: String) throws(VaultError) {
        try self.init(Base64URL.decode(text.utf8) ?? [], place: place)
    }

    /// Unpadded base64url (RFC 4648, section 5).
    public var description: String { Base64URL.encode(bytes.span) }

    /// The `kid` of this content key as an injected key.
    public var keyID: KeyID? { try? KeyID(description) }
}

/// A content key wrapped under one vault key: `{"kid", "alg": "A256KW", "wrapped"}` (RFC 3394; RFC 7518,
/// section 4.4). Slots are in metadata, never in the pack, so that vault keys rotate without a download.
public struct KeySlot: Hashable, Sendable {
    public static let algorithm = "A256KW"

    public let keyID: KeyID
    public let wrapped: [UInt8]

    public init(wrapping key: ContentKey, under vaultKey: VaultKey) throws(VaultError) {
        keyID = vaultKey.id
        wrapped = try AESKeyWrap.wrap(key.secret, under: vaultKey.secret)
    }

    /// Those of a list, without slots of unknown algorithms: others can be added later. Throws `.corrupt`.
    public static func slots(parsing values: [JSONValue], place: String) throws(VaultError) -> [KeySlot] {
        var slots: [KeySlot] = []
        for value in values {
            if let slot = try KeySlot(parsing: value.asObject(at: place), place: place) { slots.append(slot) }
        }
        return slots
    }

    /// Nil for an unknown algorithm. Throws `.corrupt`.
    public init?(parsing json: JSONObject, place: String) throws(VaultError) {
        guard try json.string("alg", at: place).utf8.elementsEqual(Self.algorithm.utf8) else { return nil }
        let text = try json.string("wrapped", at: place)
        func refuse(_ part: String) -> VaultError {
            VaultError(
                .corrupt, "a slot's \(part) has the wrong form", at: place, remedy: "get the manifest again")
        }
        guard let wrapped = Base64URL.decode(text.utf8), wrapped.count == ContentKey.count + 8
        else { throw refuse("wrapped key") }
        guard let keyID = try? KeyID(try json.string("kid", at: place)) else { throw refuse("key ID") }
        self.keyID = keyID
        self.wrapped = wrapped
    }

    /// Throws `.usage` for more slots than a manifest may have.
    public static func requireCount(_ count: Int, at place: String) throws(VaultError) {
        guard count <= FormatLimits.maximumSlots else {
            throw VaultError(
                .usage, "a pack is sealed for \(FormatLimits.maximumSlots) vault keys at most, not \(count)",
                at: place,
                remedy: "give fewer keys")
        }
    }

    public var json: JSONObject {
        var object = JSONObject()
        object["kid"] = .string(keyID.description)
        object["alg"] = .string(Self.algorithm)
        object["wrapped"] = .string(Base64URL.encode(wrapped.span))
        return object
    }

    /// Whether `vaultKey` unwraps it. Another key may have the same ID.
    package func isWrapped(under vaultKey: VaultKey) -> Bool {
        keyID == vaultKey.id && (try? AESKeyWrap.unwrap(wrapped.span, under: vaultKey.secret)) != nil
    }

    /// The wrapped content key, if `vaultKey` unwraps it and its ID is `expected`.
    func unwrapped(under vaultKey: VaultKey, expecting expected: ContentKeyID) -> ContentKey? {
        guard let secret = try? AESKeyWrap.unwrap(wrapped.span, under: vaultKey.secret),
            let key = try? ContentKey(secret), key.id == expected
        else { return nil }
        return key
    }
}
