import VaultBase

/// Keys under a passphrase: a JWE (RFC 7516) whose plaintext is a JWK or JWK Set (RFC 7517, section 7), compact or flattened JSON,
/// encrypted by PBES2 (RFC 7518, section 4.8).
struct EncryptedKeyFile: Equatable {
    /// OWASP's Password Storage Cheat Sheet asks PBKDF2 for 600,000 iterations with HMAC-SHA-256, and for 210,000 with HMAC-SHA-512, which
    /// is used here.
    static let iterations = 600_000
    /// A file that states more only costs time: 10,000,000 take several seconds.
    static let iterationLimit: ClosedRange<Int64> = 1_000...10_000_000

    /// The base64url of the protected header, which the encryption authenticates.
    private let authenticated: [UInt8]
    fileprivate let header: Header
    private let encryptedKey: [UInt8]
    private let nonce: [UInt8]
    private let ciphertext: [UInt8]
    private let tag: [UInt8]

    /// The members of all headers that matter.
    fileprivate struct Header: Equatable {
        let wrapping: PasswordWrapping
        let encryption: ContentEncryption
        let salt: [UInt8]
        let iterations: Int32
    }

    /// Nil for a text that is no JWE. A JSON object with "ciphertext" is one, unless it has "kty" or "keys".
    init?(ifIn text: borrowing SecretBytes, place: String) throws(VaultError) {
        if let compact = try EncryptedKeyFile(ifCompact: text, place: place) {
            self = compact
            return
        }
        guard let members = JWKMembers(ifIn: text, place: place), members.hasCiphertext,
            members.type == nil, members.elements == nil
        else { return nil }
        self = try text.withBytes { (text) throws(VaultError) in
            try EncryptedKeyFile(flattened: text, place: place)
        }
    }

    /// The parts of a compact JWE: the protected header, the encrypted key, the nonce, the ciphertext and the tag. Nil for a text with
    /// other characters or another number of parts.
    ///
    /// - Throws: `.key` for a JWE that is not one of keys under a passphrase.
    init?(ifCompact text: borrowing SecretBytes, place: String) throws(VaultError) {
        guard text.firstVisibleByte == UInt8(ascii: "e") else { return nil }
        let parts = text.withBytes { text in
            var parts: [[UInt8]] = [[]]
            for index in text.indices where ![0x20, 0x09, 0x0A, 0x0D].contains(text[index]) {
                if text[index] == UInt8(ascii: ".") {
                    parts.append([])
                } else {
                    parts[parts.count - 1].append(text[index])
                }
                if parts.count > 5 { break }
            }
            return parts
        }
        let decoded = parts.compactMap { Base64URL.decode($0.span) }
        guard parts.count == 5, decoded.count == 5 else { return nil }
        try self.init(
            protected: parts[0], shared: [], key: decoded[1], nonce: decoded[2], ciphertext: decoded[3],
            tag: decoded[4], place: place)
    }

    /// The members of a flattened JWE, which is a text without secrets.
    init(flattened text: Span<UInt8>, place: String) throws(VaultError) {
        let json = try Self.object(text, place)
        guard json["recipients"] == nil else {
            throw Self.unfit("is a JWE in general JSON serialization", place)
        }
        var shared: [JSONObject] = []
        for name in ["unprotected", "header"] {
            switch json[name] {
            case nil: break
            case .object(let object)?: shared.append(object)
            default: throw Self.unfit("\"\(name)\" of the JWE is not an object", place)
            }
        }
        guard json["aad"] == nil, case .string(let protected)? = json["protected"] else {
            throw Self.unfit("is a JWE with \"aad\" or without \"protected\"", place)
        }
        func bytes(_ name: String) throws(VaultError) -> [UInt8] {
            guard case .string(let text)? = json[name], let bytes = Base64URL.decode(text.utf8) else {
                throw Self.unfit("\"\(name)\" of the JWE is not base64url", place)
            }
            return bytes
        }
        try self.init(
            protected: Array(protected.utf8), shared: shared, key: bytes("encrypted_key"), nonce: bytes("iv"),
            ciphertext: bytes("ciphertext"), tag: bytes("tag"), place: place)
    }

    private init(
        protected: [UInt8], shared: [JSONObject], key: [UInt8], nonce: [UInt8], ciphertext: [UInt8],
        tag: [UInt8], place: String
    ) throws(VaultError) {
        guard let text = Base64URL.decode(protected.span) else {
            throw Self.unfit("the header of the JWE is not base64url", place)
        }
        header = try Header(try [Self.object(text.span, place)] + shared, place)
        guard nonce.count == header.encryption.nonceLength, tag.count == header.encryption.tagLength else {
            throw Self.unfit("the nonce or the tag of the JWE has the wrong length", place)
        }
        (authenticated, encryptedKey) = (protected, key)
        (self.nonce, self.ciphertext, self.tag) = (nonce, ciphertext, tag)
    }

    private static func object(_ text: Span<UInt8>, _ place: String) throws(VaultError) -> JSONObject {
        guard case .object(let object)? = try? JSONValue(parsing: text, place: place) else {
            throw unfit("the JWE has a header that is no JSON object", place)
        }
        return object
    }

    /// The text of a JWK or JWK Set.
    ///
    /// - Throws: `.key` for a wrong passphrase, and where the bytes were changed.
    func open(with passphrase: borrowing SecretBytes, place: String) throws(VaultError) -> SecretBytes {
        let wrappingKey = try header.wrapping.key(
            from: passphrase, salt: header.salt, iterations: header.iterations)
        guard let key = AESKeyWrap.unwrap(encryptedKey.span, underAnySize: wrappingKey) else {
            throw VaultError(
                .key, "the passphrase does not open the keys", at: place,
                remedy: "give the passphrase of this file, without a line feed at its end")
        }
        guard key.count == header.encryption.keyLength,
            let text = header.encryption.open(
                ciphertext.span, tag: tag.span, nonce: nonce.span, authenticating: authenticated.span,
                key: key)
        else {
            throw VaultError(
                .key, "the encrypted keys were changed", at: place,
                remedy: "restore the file from your backup")
        }
        return text
    }

    /// Encrypts the text of a JWK Set, as a flattened JWE with a newline.
    static func seal(
        _ text: borrowing SecretBytes, with passphrase: borrowing SecretBytes,
        iterations: Int = EncryptedKeyFile.iterations
    ) throws(VaultError) -> [UInt8] {
        let salt = try SecureRandom.bytes(16)
        let header: JSONObject = [
            "alg": "PBES2-HS512+A256KW", "cty": "jwk-set+json", "enc": "A256GCM",
            "p2c": .integer(Int64(iterations)), "p2s": .string(Base64URL.encode(salt.span)),
        ]
        let protected = Base64URL.encode(JSONValue.object(header).canonical().span)
        let wrappingKey = try PasswordWrapping.hs512.key(
            from: passphrase, salt: salt, iterations: Int32(clamping: iterations))
        let key = SecretBytes(randomLength: AES256GCM.keyLength)
        let nonce = try SecureRandom.bytes(AES256GCM.nonceLength)
        let sealed = try text.withBytes { (text) throws(VaultError) in
            try AES256GCM.seal(
                text, nonce: nonce.span, authenticating: Array(protected.utf8).span, key: key)
        }
        let wrapped = try AESKeyWrap.wrap(key, under: wrappingKey)
        let end = sealed.count - AES256GCM.tagLength
        let parts: JSONObject = [
            "protected": .string(protected),
            "encrypted_key": .string(Base64URL.encode(wrapped.span)),
            "iv": .string(Base64URL.encode(nonce.span)),
            "ciphertext": .string(Base64URL.encode(sealed.span.extracting(0..<end))),
            "tag": .string(Base64URL.encode(sealed.span.extracting(end..<sealed.count))),
        ]
        return JSONValue.object(parts).pretty()
    }

    fileprivate static func unfit(_ problem: String, _ place: String) -> VaultError {
        VaultError(
            .key, problem, at: place,
            remedy: "encrypt the keys with a passphrase (PBES2, RFC 7518), as a compact or flattened JWE")
    }
}

extension EncryptedKeyFile.Header {
    /// - Parameter headers: the protected one first. No member is in two of them (RFC 7516, section 7.2.1).
    init(_ headers: [JSONObject], _ place: String) throws(VaultError) {
        func unfit(_ problem: String) -> VaultError { EncryptedKeyFile.unfit(problem, place) }
        func member(_ name: String) throws(VaultError) -> JSONValue? {
            let found = headers.compactMap { $0[name] }
            guard found.count <= 1 else { throw unfit("\"\(name)\" is in two headers of the JWE") }
            return found.first
        }
        func text(_ name: String) throws(VaultError) -> String? {
            guard case .string(let text)? = try member(name) else { return nil }
            return text
        }
        guard try member("crit") == nil, try member("zip") == nil else {
            throw unfit("the JWE has \"crit\" or \"zip\", which is not supported")
        }
        guard let wrapping = try text("alg").flatMap(PasswordWrapping.init(rawValue:)) else {
            throw unfit("\"alg\" of the JWE is none of \(PasswordWrapping.names)")
        }
        guard let encryption = try text("enc").flatMap(ContentEncryption.init(rawValue:)) else {
            throw unfit("\"enc\" of the JWE is none of \(ContentEncryption.names)")
        }
        if let type = try member("cty") {
            guard case .string(let name) = type, Self.contentTypes.contains(name.lowercased()) else {
                throw unfit("\"cty\" of the JWE is neither \"jwk-set+json\" nor \"jwk+json\"")
            }
        }
        guard let salt = try text("p2s").flatMap({ Base64URL.decode($0.utf8) }), salt.count >= 8 else {
            throw unfit("\"p2s\" of the JWE is not 8 or more bytes in base64url")
        }
        guard case .integer(let count)? = try member("p2c"), EncryptedKeyFile.iterationLimit.contains(count),
            let iterations = Int32(exactly: count)
        else { throw unfit("\"p2c\" of the JWE is not a number from 1,000 to 10,000,000") }
        self.init(wrapping: wrapping, encryption: encryption, salt: salt, iterations: iterations)
    }

    private static let contentTypes = ["", "application/"].flatMap { ["\($0)jwk+json", "\($0)jwk-set+json"] }
}
