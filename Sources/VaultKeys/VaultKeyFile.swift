import StrictJSON
public import SystemPackage
import VaultBytes
public import VaultCrypto
public import VaultErrors
public import VaultFileSystem

/// The file that `assetvault keygen` makes: a JWK Set (RFC 7517, section 5) with one fresh vault key.
public enum VaultKeyFile {
    /// Makes a 256-bit key and writes it with mode 0600, durably; gives its ID.
    ///
    /// The ID is random: metadata names it in public, and a thumbprint would be a hash of the secret there. It
    /// begins with no `-`, so that commands take it as an argument.
    ///
    /// - Throws: ``VaultErrors/VaultError`` of category `unwritable` when anything has that name already, or when
    ///   it can't be made; `io`.
    @discardableResult
    public static func generate(at path: FilePath) throws(VaultError) -> KeyID {
        let key = try freshKey()
        let text = try key.jwkSet()
        try text.withBytes { (bytes) throws(VaultError) in
            try DurableFile.write(bytes, to: path, permissions: 0o600, replacing: false)
        }
        return key.id
    }

    /// Makes a 256-bit key and writes the same bytes to a pipe, such as a secret store's client; gives its ID.
    @discardableResult
    public static func generate(into pipe: borrowing OpenFile) throws(VaultError) -> KeyID {
        let key = try freshKey()
        let text = try key.jwkSet()
        try text.withBytes { (bytes) throws(VaultError) in try pipe.writeNext(bytes) }
        return key.id
    }

    private static func freshKey() throws(VaultError) -> VaultKey {
        let id = try freshID()
        return try VaultKey(id: id, secret: SecretBytes(randomCount: VaultKey.byteCount))
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
    /// The JWK that opens this one pack for whoever gets it, and a newline.
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
    /// Puts base64url between two texts.
    fileprivate init(jwkBefore before: String, secret: borrowing SecretBytes, after: String)
        throws(VaultError)
    {
        let encoded = try SecretBytes(capacity: Base64URL.encodedLength(of: secret.count)) {
            (room) throws(VaultError) in
            secret.withBytes { Base64URL.encode($0, into: &room) } ?? 0
        }
        self = try SecretBytes(copying: Array(before.utf8).span).appending(encoded)
            .appending(SecretBytes(copying: Array(after.utf8).span))
    }
}
