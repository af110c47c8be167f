public import SystemPackage
public import VaultBase
public import VaultFileSystem

/// Files of vault keys: JWK Sets (RFC 7517, section 5), mode 0600; or with a passphrase, JWEs of such sets.
public enum VaultKeyFile {
    /// Generates a 256-bit key and writes it durably with mode 0600; returns its ID.
    ///
    /// - Throws: ``VaultBase/VaultError`` of category `unwritable` when the name exists or can't be created; `key` for the passphrase; `io`.
    @discardableResult
    public static func generate(at path: FilePath, passphrase: PassphraseSource? = nil) throws(VaultError)
        -> KeyID
    {
        let key = try VaultKey.generate()
        try write(KeyRing(vaultKeys: [key]), to: path, passphrase: passphrase)
        return key.id
    }

    /// Writes all keys of a ring to a new file, durably with mode 0600.
    ///
    /// - Throws: ``VaultBase/VaultError`` of category `unwritable` when the name exists or can't be created; `key` for the passphrase; `io`.
    public static func write(_ ring: KeyRing, to path: FilePath, passphrase: PassphraseSource? = nil)
        throws(VaultError)
    {
        try write(ring, to: path, passphrase: passphrase, iterations: EncryptedKeyFile.iterations)
    }

    /// - Parameter iterations: fewer only for tests with programs that refuse the usual number.
    package static func write(
        _ ring: KeyRing, to path: FilePath, passphrase: PassphraseSource?, iterations: Int
    ) throws(VaultError) {
        try write(ring, under: passphrase.new, .new(path.string), iterations) { (bytes) throws(VaultError) in
            try DurableFile.write(bytes, to: path, permissions: 0o600, replacing: false)
        }
    }

    /// Writes all keys as they are, or encrypted where there is a passphrase.
    private static func write(
        _ ring: KeyRing, under passphrase: PassphraseSource?, _ purpose: PassphraseSource.Question,
        _ iterations: Int = EncryptedKeyFile.iterations, _ put: (Span<UInt8>) throws(VaultError) -> Void
    ) throws(VaultError) {
        let text = try ring.jwkSet()
        guard let passphrase else { return try text.withBytes(put) }
        let secret = try passphrase.passphrase(for: purpose)
        let sealed = try EncryptedKeyFile.seal(text, with: secret, iterations: iterations)
        try put(sealed.span)
    }

    /// Writes all keys of a ring in the form of another key file: encrypted with its passphrase, if that file is encrypted.
    ///
    /// - Throws: ``VaultBase/VaultError`` of category `unwritable` when the name can't be created, or exists and is not the other file's;
    ///   `key` for the passphrase; `io`.
    public static func write(
        _ ring: KeyRing, to path: FilePath, like other: FilePath, passphrase: PassphraseSource?
    ) throws(VaultError) {
        let isEncrypted = try isEncrypted(other)
        guard passphrase != nil || !isEncrypted else { throw .encryptedKeys(at: other.string) }
        try write(ring, under: isEncrypted ? passphrase : nil, .existing(other.string)) {
            (bytes) throws(VaultError) in
            try DurableFile.write(bytes, to: path, permissions: 0o600, replacing: path == other)
        }
    }

    /// Throws `.unwritable` for a file that can't be written again without a loss.
    ///
    /// - Parameter ring: its keys.
    package static func requireRewritable(_ path: FilePath, holding ring: KeyRing) throws(VaultError) {
        let status = try FileSystem.status(of: path)
        guard status?.hardLinks ?? 1 == 1 else {
            throw VaultError(
                .unwritable, "it has another name, too, under which the key would stay as it is",
                at: path.string,
                remedy: "remove the other hard links, or put a copy of the file there")
        }
        guard status?.kind != .link else {
            throw VaultError(
                .unwritable, "is a symbolic link, and its target may be in use elsewhere", at: path.string,
                remedy: "name its target, \(path.resolved), in vault.json, or put the file itself there")
        }
        guard ring.others.isEmpty else {
            throw VaultError(
                .unwritable, "it also holds \(ring.others.listed(upTo: 4)), which would be lost",
                at: path.string,
                remedy: "move that to another file, then repeat the command")
        }
    }

    private static func isEncrypted(_ path: FilePath) throws(VaultError) -> Bool {
        let text = try SecretBytes(ofPrivateFile: path, "the key file")
        let file = try EncryptedKeyFile(ifIn: text, place: path.string)
        return file != nil
    }

    /// Generates a 256-bit key and writes the same format to a pipe, such as a secret store's client; returns its ID.
    @discardableResult
    public static func generate(into pipe: borrowing OpenFile, passphrase: PassphraseSource? = nil)
        throws(VaultError) -> KeyID
    {
        let key = try VaultKey.generate()
        try write(KeyRing(vaultKeys: [key]), into: pipe, passphrase: passphrase)
        return key.id
    }

    /// The same of all keys of a ring.
    public static func write(
        _ ring: KeyRing, into pipe: borrowing OpenFile, passphrase: PassphraseSource? = nil
    ) throws(VaultError) {
        try write(ring, under: passphrase.new, .new("standard output")) { (bytes) throws(VaultError) in
            try pipe.writeNext(bytes)
        }
    }
}

extension PassphraseSource? {
    /// The passphrase of new files; nil where they are not encrypted.
    fileprivate var new: PassphraseSource? { flatMap { $0.encryptsNewFiles ? $0 : nil } }
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
