import VaultBase
public import VaultCrypto

/// A public key in metadata (TUF section 4.2.2).
public struct MetadataKey: Sendable, Hashable {
    public let id: MetadataKeyID
    public let key: VerifyingKey
    /// The key object, members unknown to this library included.
    let json: JSONObject

    /// A key with the ID that the specification defines for it.
    public init(_ key: VerifyingKey) {
        self.key = key
        json = Self.json(of: key)
        id = MetadataKeyID(SHA256.hash(JSONValue.object(json).canonical().span).hex)
    }

    /// Nil for a malformed key or an unsupported kind: signatures of such keys do not count.
    init?(_ id: MetadataKeyID, parsing value: JSONValue) {
        guard case .object(let json) = value, case .string(let type)? = json["keytype"],
            case .string(let scheme)? = json["scheme"], case .object(let values)? = json["keyval"],
            case .string(let text)? = values["public"], let key = Self.key(type, scheme, text)
        else { return nil }
        self.id = id
        self.key = key
        self.json = json
    }

    private static func key(_ type: String, _ scheme: String, _ text: String) -> VerifyingKey? {
        let expected: VerifyingKey.Scheme
        switch (type, scheme) {
        case ("ed25519", "ed25519"):
            guard let raw = Hexadecimal.decode(text) else { return nil }
            return Ed25519PublicKey(raw: raw.span).map { VerifyingKey($0) }
        // Tools write either name: specification 1.0.32 renamed the key type.
        case ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256"), ("ecdsa", "ecdsa-sha2-nistp256"):
            expected = .ecdsaP256SHA256
        case ("rsa", "rsassa-pss-sha256"): expected = .rsaPSSSHA256
        default: return nil
        }
        let pem = Array(text.utf8)
        guard let key = VerifyingKey(pem: pem.span), key.scheme == expected else { return nil }
        return key
    }

    private static func json(of key: VerifyingKey) -> JSONObject {
        switch key.scheme {
        case .ed25519: json("ed25519", "ed25519", Hexadecimal.encode(key.ed25519?.raw ?? []))
        case .ecdsaP256SHA256: json("ecdsa", "ecdsa-sha2-nistp256", key.pem)
        case .rsaPSSSHA256: json("rsa", "rsassa-pss-sha256", key.pem)
        }
    }

    private static func json(_ type: String, _ scheme: String, _ text: String) -> JSONObject {
        [
            "keytype": .string(type), "scheme": .string(scheme), "keyval": ["public": .string(text)],
        ]
    }
}

/// The ID of a key in metadata.
///
/// Compared by bytes. The specification defines it as the SHA-256 of the key's canonical JSON (TUF section 4.2.1), as
/// ``MetadataKey`` computes it. A parsed one is not compared with the key: signatures are counted by key, and common tools add
/// members to a key after computing its ID.
public struct MetadataKeyID: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    public init(_ text: String) {
        description = text
    }

    public static func == (left: MetadataKeyID, right: MetadataKeyID) -> Bool {
        left.description.utf8.elementsEqual(right.description.utf8)
    }
}
