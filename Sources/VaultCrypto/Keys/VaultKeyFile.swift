public import SystemPackage
public import VaultBase
public import VaultFileSystem

/// The file of a fresh vault key: a JWK Set (RFC 7517, section 5) with one key.
public enum VaultKeyFile {
    /// Generates a 256-bit key and writes it durably with mode 0600; returns its ID.
    ///
    /// The ID is random, as it is public in metadata, where a thumbprint would be a hash of the secret. It does not
    /// begin with `-`, so that commands accept it as an argument.
    ///
    /// - Throws: ``VaultBase/VaultError`` of category `unwritable` when the name exists or can't be created; `io`.
    @discardableResult
    public static func generate(at path: FilePath) throws(VaultError) -> KeyID {
        let key = try freshKey()
        let text = try key.jwkSet()
        try text.withBytes { (bytes) throws(VaultError) in
            try DurableFile.write(bytes, to: path, permissions: 0o600, replacing: false)
        }
        return key.id
    }

    /// Generates a 256-bit key and writes the same format to a pipe, such as a secret store's client; returns its ID.
    @discardableResult
    public static func generate(into pipe: borrowing OpenFile) throws(VaultError) -> KeyID {
        let key = try freshKey()
        let text = try key.jwkSet()
        try text.withBytes { (bytes) throws(VaultError) in try pipe.writeNext(bytes) }
        return key.id
    }

    private static func freshKey() throws(VaultError) -> VaultKey {
        let id = try freshID()
        return try VaultKey(id: id, secret: SecretBytes(randomLength: VaultKey.byteCount))
    }

    private static func freshID() throws(VaultError) -> KeyID {
        while true {
            let bytes = try SecureRandom.bytes(16)
            let id = try KeyID(Base64URL.encode(bytes.span))
            if !id.description.hasPrefix("-") { return id }
        }
    }
}

extension VaultKey {
    /// A JWK Set with this one key, and a newline.
    func jwkSet() throws(VaultError) -> SecretBytes {
        try SecretBytes(
            jwkBefore: #"{"keys":[{"kty":"oct","alg":"A256KW","use":"enc","kid":"\#(id)","k":""#,
            secret: secret, after: "\"}]}\n")
    }
}

extension InjectedContentKey {
    /// The JWK of this content key, and a newline.
    ///
    /// - Throws: never in practice.
    public func jwk() throws(VaultError) -> SecretBytes {
        try SecretBytes(
            jwkBefore:
                #"{"kty":"oct","alg":"\#(Self.algorithm)","key_ops":["deriveKey"],"kid":"\#(id)","k":""#,
            secret: secret, after: "\"}\n")
    }
}

extension SecretBytes {
    /// Encodes the secret as base64url between two texts.
    fileprivate init(jwkBefore before: String, secret: borrowing SecretBytes, after: String)
        throws(VaultError)
    {
        let encoded = try SecretBytes(capacity: Base64URL.encodedLength(of: secret.count)) {
            (buffer) throws(VaultError) in
            secret.withBytes { Base64URL.encode($0, into: &buffer) } ?? 0
        }
        self = try SecretBytes(copying: Array(before.utf8).span).appending(encoded)
            .appending(SecretBytes(copying: Array(after.utf8).span))
    }
}
