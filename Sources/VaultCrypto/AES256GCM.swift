import CVaultOpenSSL
public import VaultBase

/// AES-256-GCM (NIST SP 800-38D) with 12-byte nonces and 16-byte tags, and no others.
///
/// A sealed message is the ciphertext and then the tag (RFC 5116, `AEAD_AES_256_GCM`).
public enum AES256GCM {
    public static let keyLength = 32
    public static let nonceLength = 12
    public static let tagLength = 16

    /// Encrypts; a nonce must be used only once with a key. `.key` for a key, `.usage` for a nonce of another size.
    public static func seal(
        _ message: Span<UInt8>, nonce: Span<UInt8>, authenticating associated: Span<UInt8>,
        key: borrowing SecretBytes
    ) throws(VaultError) -> [UInt8] {
        var cipher = try begin(.seal, nonce: nonce, authenticating: associated, key: key)
        var sealed: [UInt8] = []
        sealed.reserveCapacity(message.count + tagLength)
        cipher.encrypt(message, appendingTo: &sealed)
        cipher.appendTag(to: &sealed)
        return sealed
    }

    /// Decrypts; returns no plaintext unless the tag is valid.
    ///
    /// `.corrupt` for a wrong or shortened tag, `.key` for a key, `.usage` for a nonce of another size.
    public static func open(
        _ sealed: Span<UInt8>, nonce: Span<UInt8>, authenticating associated: Span<UInt8>,
        key: borrowing SecretBytes
    ) throws(VaultError) -> [UInt8] {
        var cipher = try begin(.open, nonce: nonce, authenticating: associated, key: key)
        var message: [UInt8] = []
        guard cipher.decrypt(sealed, appendingTo: &message) else {
            throw VaultError(
                .corrupt, "authentication failed", at: "encrypted message",
                remedy: "use the right key, or fetch the data again")
        }
        return message
    }

    private static func begin(
        _ direction: GCMCipher.Direction, nonce: Span<UInt8>, authenticating associated: Span<UInt8>,
        key: borrowing SecretBytes
    ) throws(VaultError) -> GCMCipher {
        guard key.count == keyLength else {
            throw VaultError(
                .key, "the key has \(key.count) bytes", at: "AES-256-GCM", remedy: "use one of 32 bytes")
        }
        guard nonce.count == nonceLength else {
            throw VaultError(
                .usage, "the nonce has \(nonce.count) bytes", at: "AES-256-GCM", remedy: "use one of 12 bytes"
            )
        }
        var cipher = key.withBytes { GCMCipher(direction, key: $0) }
        cipher.begin(nonce: nonce)
        cipher.authenticate(associated)
        return cipher
    }
}

/// One OpenSSL context for many AES-256-GCM messages under one key.
@safe
struct GCMCipher: ~Copyable, @unchecked Sendable {
    enum Direction: Int32 {
        case open = 0
        case seal = 1
    }

    /// OpenSSL's lengths are `Int32`, so longer inputs are split.
    private static let partLength = 1 << 30

    private let context: OpaquePointer
    private let direction: Direction

    /// - Parameter key: exactly 32 bytes.
    init(_ direction: Direction, key: Span<UInt8>) {
        precondition(key.count == AES256GCM.keyLength, "an AES-256 key has 32 bytes")
        guard let context = unsafe EVP_CIPHER_CTX_new() else { fatalError("out of memory") }
        unsafe self.context = context
        self.direction = direction
        let succeeded = unsafe key.withUnsafeBufferPointer { key in
            unsafe EVP_CipherInit_ex(
                context, Algorithm.aes256GCM.pointer, nil, key.baseAddress, nil, direction.rawValue)
        }
        require(succeeded == 1, "AES-256-GCM")
    }

    deinit {
        // Wipes the expanded key.
        unsafe EVP_CIPHER_CTX_free(context)
    }

    /// Begins a message.
    /// - Parameter nonce: exactly 12 bytes.
    mutating func begin(nonce: Span<UInt8>) {
        precondition(nonce.count == AES256GCM.nonceLength, "a nonce has 12 bytes")
        let succeeded = unsafe nonce.withUnsafeBufferPointer { nonce in
            unsafe EVP_CipherInit_ex(context, nil, nil, nil, nonce.baseAddress, direction.rawValue)
        }
        require(succeeded == 1, "AES-256-GCM")
    }

    /// Adds associated data, before the first byte of the message.
    mutating func authenticate(_ associated: Span<UInt8>) {
        unsafe transform(associated, to: nil)
    }

    mutating func encrypt(_ plaintext: Span<UInt8>, appendingTo output: inout [UInt8]) {
        guard !plaintext.isEmpty else { return }
        output.append(addingCapacity: plaintext.count) { output in
            unsafe output.withUnsafeMutableBufferPointer { target, initialized in
                unsafe transform(plaintext, to: target.baseAddress)
                initialized = plaintext.count
            }
        }
    }

    /// Ends an encrypted message.
    mutating func appendTag(to output: inout [UInt8]) {
        output.append(addingCapacity: AES256GCM.tagLength) { output in
            unsafe output.withUnsafeMutableBufferPointer { target, initialized in
                var none: Int32 = 0
                let tagLength = Int32(AES256GCM.tagLength)
                // GCM writes nothing here, but needs a pointer.
                unsafe require(EVP_CipherFinal_ex(context, target.baseAddress, &none) == 1, "AES-256-GCM")
                unsafe require(
                    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tagLength, target.baseAddress) == 1,
                    "AES-256-GCM")
                initialized = AES256GCM.tagLength
            }
        }
    }

    /// Decrypts one whole message with its tag at the end. Returns false and appends nothing if the tag is invalid:
    /// OpenSSL writes plaintext before it verifies the tag, so the plaintext is wiped.
    mutating func decrypt(_ sealed: Span<UInt8>, appendingTo output: inout [UInt8]) -> Bool {
        let count = sealed.count - AES256GCM.tagLength
        guard count >= 0 else { return false }
        var genuine = false
        // With a capacity of 0 OpenSSL would write to the storage that all empty arrays share, a data race.
        output.append(addingCapacity: max(count, 1)) { output in
            unsafe output.withUnsafeMutableBufferPointer { target, initialized in
                unsafe transform(sealed.extracting(0..<count), to: target.baseAddress)
                genuine = isGenuine(tag: sealed.extracting(count..<sealed.count))
                if genuine {
                    initialized = count
                } else {
                    unsafe OPENSSL_cleanse(target.baseAddress, count)
                }
            }
        }
        return genuine
    }

    private func isGenuine(tag: Span<UInt8>) -> Bool {
        var unused: UInt8 = 0
        var none: Int32 = 0
        return unsafe tag.withUnsafeBufferPointer { tag in
            // OpenSSL only reads the tag.
            let start = unsafe UnsafeMutablePointer(mutating: tag.baseAddress)
            return unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), start) == 1
                && EVP_CipherFinal_ex(context, &unused, &none) == 1
        }
    }

    private func transform(_ input: Span<UInt8>, to target: UnsafeMutablePointer<UInt8>?) {
        unsafe input.withUnsafeBufferPointer { input in
            var position = 0
            while position < input.count {
                let count = min(input.count - position, Self.partLength)
                var written: Int32 = 0
                let succeeded = unsafe EVP_CipherUpdate(
                    context, target.map { unsafe $0 + position }, &written,
                    input.baseAddress.map { unsafe $0 + position }, Int32(count))
                require(succeeded == 1, "AES-256-GCM")
                position += count
            }
        }
    }
}
