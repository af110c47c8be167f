public import StrictJSON
import VaultBytes
import VaultCrypto
public import VaultErrors
public import VaultKeys

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

    /// Nil for an unknown algorithm, so that others can be added later. Throws `.corrupt`.
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
