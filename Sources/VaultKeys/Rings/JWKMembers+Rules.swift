import StrictJSON
import VaultBytes
import VaultCrypto
import VaultErrors

/// The rules for JWKs of vault and content keys (RFC 7517, section 4; RFC 7518, section 6.4).
extension JWKMembers {
    enum Purpose {
        /// Wraps content keys.
        case wrapping
        /// Is a content key.
        case content
    }

    var isSymmetric: Bool { type?.utf8.elementsEqual("oct".utf8) == true }

    /// The key's purpose, stated by `alg`: no key has both.
    func purpose(place: String) throws(VaultError) -> Purpose {
        if let use, !use.utf8.elementsEqual("enc".utf8) {
            throw unfit("\"use\" is not \"enc\"", place)
        }
        if let operations, Set(operations.map { Array($0.utf8) }).count != operations.count {
            throw unfit("an operation occurs twice in \"key_ops\"", place)
        }
        switch algorithm.map({ Array($0.utf8) }) {
        case Array("A256KW".utf8):
            guard operations == nil || allows("wrapKey") && allows("unwrapKey") else {
                throw unfit("\"key_ops\" allows not both wrapKey and unwrapKey", place)
            }
            return .wrapping
        case Array(InjectedContentKey.algorithm.utf8):
            guard operations?.count == 1, allows("deriveKey") else {
                throw unfit("\"key_ops\" of a content key is not [\"deriveKey\"]", place)
            }
            return .content
        case nil:
            throw unfit("\"alg\" is missing", place)
        default:
            throw unfit("\"alg\" is neither \"A256KW\" nor \"\(InjectedContentKey.algorithm)\"", place)
        }
    }

    private func allows(_ operation: String) -> Bool {
        operations?.contains { $0.utf8.elementsEqual(operation.utf8) } == true
    }

    /// The key, decoded from the source; its text never becomes a `String`.
    func secret(in source: Span<UInt8>, place: String) throws(VaultError) -> SecretBytes {
        guard isSymmetric else { throw unfit("\"kty\" is not \"oct\"", place) }
        guard let secret else { throw unfit("\"k\" is missing", place) }
        let text = source.extracting(secret.range)
        let decoded = try SecretBytes(capacity: VaultKey.byteCount) { (buffer) throws(VaultError) in
            guard text.count == Base64URL.encodedLength(of: VaultKey.byteCount),
                let count = Base64URL.decode(text, into: &buffer)
            else {
                throw unfit("\"k\" is not 32 bytes in base64url without padding (43 characters)", place)
            }
            return count
        }
        return decoded
    }

    /// The JWK thumbprint (RFC 7638): SHA-256 of the required members, sorted, in base64url.
    ///
    /// The hash of a random 256-bit key reveals nothing of the key. Call it after `secret`.
    func thumbprint(in source: Span<UInt8>) -> String {
        guard let secret else { return "" }
        var hash = SHA256()
        hash.update(Array("{\"k\":\"".utf8).span)
        hash.update(source.extracting(secret.range))
        hash.update(Array("\",\"kty\":\"oct\"}".utf8).span)
        return Base64URL.encode(hash.finalize().bytes.span)
    }

    private func unfit(_ problem: String, _ place: String) -> VaultError {
        VaultError(
            .key, problem, at: place,
            remedy: "give a JWK with \"kty\":\"oct\" and \"alg\":\"A256KW\"", hint: .makingVaultKey)
    }
}
