import StrictJSON
import VaultCrypto
import VaultErrors

/// Who may sign for a role, and how many of them must (ROLE in section 4.3).
struct RoleTrust: Sendable, Hashable {
    /// The role's key IDs with their keys, as far as they are keys that this library knows.
    let keys: [MetadataKeyID: Ed25519PublicKey]
    let threshold: Int64

    init(parsing role: JSONObject, keys known: JSONObject, place: String) throws(VaultError) {
        threshold = try role.integer("threshold", at: place)
        guard threshold >= 1 else {
            throw .untrusted("a threshold is \(threshold), which is below 1", at: place)
        }
        var names: Set<MetadataKeyID> = []
        var keys: [MetadataKeyID: Ed25519PublicKey] = [:]
        for value in try role.array("keyids", at: place) {
            let id = MetadataKeyID(try value.asString(at: place))
            guard names.insert(id).inserted else {
                throw .untrusted("a role lists the key ID \"\(id.description.beginning)\" twice", at: place)
            }
            keys[id] = known[id.description].flatMap { Ed25519PublicKey(metadata: $0) }
        }
        self.keys = keys
    }

    /// Checks that enough different keys signed. A key counts once, however many IDs it has.
    ///
    /// - Parameter delegator: who named the keys, for messages.
    func verify(_ metadata: UnverifiedMetadata, namedBy delegator: String) throws(VaultError) {
        var signers: Set<Ed25519PublicKey> = []
        for (id, key) in keys where !signers.contains(key) {
            if let signature = metadata.signatures[id],
                key.isValid(signature: signature.span, for: metadata.signedBytes.span)
            {
                signers.insert(key)
            }
        }
        guard signers.count >= threshold else {
            throw .unsigned(
                "version \(metadata.document.version) has \(signers.count) valid signatures of the"
                    + " \(metadata.document.role.rawValue) keys in \(delegator) where \(threshold) are needed",
                at: metadata.document.place)
        }
    }
}
