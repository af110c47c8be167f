public import SystemPackage
public import VaultBase
public import VaultFileSystem

/// Files of vault keys: JWK Sets (RFC 7517, section 5), mode 0600.
public enum VaultKeyFile {
    /// Generates a 256-bit key and writes it durably with mode 0600; returns its ID.
    ///
    /// - Throws: ``VaultBase/VaultError`` of category `unwritable` when the name exists or can't be created; `io`.
    @discardableResult
    public static func generate(at path: FilePath) throws(VaultError) -> KeyID {
        let key = try VaultKey.generate()
        try write(KeyRing(vaultKeys: [key]), to: path, replacing: false)
        return key.id
    }

    /// Writes all keys of a ring durably with mode 0600.
    ///
    /// - Throws: ``VaultBase/VaultError`` of category `unwritable` when the name can't be created, or exists and is not to be replaced; `io`.
    public static func write(_ ring: KeyRing, to path: FilePath, replacing: Bool) throws(VaultError) {
        let text = try ring.jwkSet()
        try text.withBytes { (bytes) throws(VaultError) in
            try DurableFile.write(bytes, to: path, permissions: 0o600, replacing: replacing)
        }
    }

    /// Generates a 256-bit key and writes the same format to a pipe, such as a secret store's client; returns its ID.
    @discardableResult
    public static func generate(into pipe: borrowing OpenFile) throws(VaultError) -> KeyID {
        let key = try VaultKey.generate()
        try write(KeyRing(vaultKeys: [key]), into: pipe)
        return key.id
    }

    /// The same of all keys of a ring.
    public static func write(_ ring: KeyRing, into pipe: borrowing OpenFile) throws(VaultError) {
        let text = try ring.jwkSet()
        try text.withBytes { (bytes) throws(VaultError) in try pipe.writeNext(bytes) }
    }
}

extension VaultKey {
    /// A random key with a random ID: IDs are public in metadata, where a thumbprint would be a hash of the secret. The ID does not begin
    /// with `-`, so that commands accept it as an argument.
    public static func generate() throws(VaultError) -> VaultKey {
        while true {
            let bytes = try SecureRandom.bytes(16)
            let id = try KeyID(Base64URL.encode(bytes.span))
            guard !id.description.hasPrefix("-") else { continue }
            return try VaultKey(id: id, secret: SecretBytes(randomLength: byteCount))
        }
    }

    fileprivate func jwk(after separator: String) throws(VaultError) -> SecretBytes {
        try SecretBytes(
            jwkBefore: #"\#(separator){"kty":"oct","alg":"A256KW","use":"enc","kid":"\#(id)","k":""#,
            secret: secret, after: "\"}")
    }
}

extension InjectedContentKey {
    fileprivate func jwk(after separator: String) throws(VaultError) -> SecretBytes {
        try SecretBytes(
            jwkBefore:
                #"\#(separator){"kty":"oct","alg":"\#(Self.algorithm)","key_ops":["deriveKey"],"kid":"\#(id)","k":""#,
            secret: secret, after: "\"}")
    }
}

extension KeyRing {
    /// A JWK Set with all keys, and a newline.
    public func jwkSet() throws(VaultError) -> SecretBytes {
        var text = SecretBytes(copying: Array(#"{"keys":["#.utf8).span)
        var separator = ""
        for key in vaultKeys {
            text = try text.appending(key.jwk(after: separator))
            separator = ","
        }
        for key in contentKeys {
            text = try text.appending(key.jwk(after: separator))
            separator = ","
        }
        return try text.appending(SecretBytes(copying: Array("]}\n".utf8).span))
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
