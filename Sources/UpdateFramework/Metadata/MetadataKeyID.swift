import StrictJSON
public import VaultCrypto

/// The name of a key inside metadata.
///
/// Compared byte by byte. The specification defines it as the SHA-256 of the key's canonical JSON (section
/// 4.2.1), and so it is made here; when read it is only a label, because signatures are counted by the keys
/// themselves, and because tools in wide use add members to a key after naming it.
public struct MetadataKeyID: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    init(_ text: String) {
        description = text
    }

    /// The ID of an Ed25519 key.
    public init(of key: Ed25519PublicKey) {
        description = SHA256.hash(JSONValue.object(Self.json(of: key)).canonical().span).hex
    }

    /// The key object of section 4.2.2.
    static func json(of key: Ed25519PublicKey) -> JSONObject {
        [
            "keytype": "ed25519", "scheme": "ed25519",
            "keyval": ["public": .string(Hexadecimal.encode(key.raw))],
        ]
    }

    public static func == (left: MetadataKeyID, right: MetadataKeyID) -> Bool {
        left.description.utf8.elementsEqual(right.description.utf8)
    }
}

extension Ed25519PublicKey {
    /// The key of a key object; nil for every kind of key but Ed25519, which then can't sign anything here.
    init?(metadata json: JSONValue) {
        guard case .object(let object) = json, object["keytype"] == "ed25519", object["scheme"] == "ed25519",
            case .object(let value)? = object["keyval"], case .string(let text)? = value["public"],
            let raw = Hexadecimal.decode(text)
        else { return nil }
        self.init(raw: raw.span)
    }
}
