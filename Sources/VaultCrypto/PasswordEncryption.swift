import CVaultOpenSSL
import VaultBase

/// JWA's key encryption with a password (RFC 7518, section 4.8): PBKDF2, then AES Key Wrap.
enum PasswordWrapping: String, CaseIterable {
    case hs256 = "PBES2-HS256+A128KW"
    case hs384 = "PBES2-HS384+A192KW"
    case hs512 = "PBES2-HS512+A256KW"

    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    private var hash: Algorithm {
        switch self {
        case .hs256: .sha256
        case .hs384: .sha384
        case .hs512: .sha512
        }
    }

    private var keyLength: Int {
        switch self {
        case .hs256: 16
        case .hs384: 24
        case .hs512: 32
        }
    }

    /// The key that wraps. `.key` for a passphrase or salt that is too long.
    func key(from passphrase: borrowing SecretBytes, salt: [UInt8], iterations: Int32) throws(VaultError)
        -> SecretBytes
    {
        let salt = Array(rawValue.utf8) + [0] + salt
        guard let passphraseLength = Int32(exactly: passphrase.count),
            let saltLength = Int32(exactly: salt.count)
        else {
            throw VaultError(
                .key, "the passphrase is too long", at: "passphrase", remedy: "give a shorter one")
        }
        let key = SecretBytes(count: keyLength)
        key.withMutableBytes { key in
            passphrase.withBytes { passphrase in
                unsafe key.withUnsafeMutableBufferPointer { key in
                    unsafe passphrase.withUnsafeBytes { passphrase in
                        let derived = unsafe PKCS5_PBKDF2_HMAC(
                            passphrase.bindMemory(to: CChar.self).baseAddress, passphraseLength, salt,
                            saltLength,
                            iterations, hash.pointer, Int32(key.count), key.baseAddress)
                        require(derived == 1, "PBKDF2")
                    }
                }
            }
        }
        return key
    }
}

/// JWA's content encryption (RFC 7518, section 5), for reading.
enum ContentEncryption: String, CaseIterable {
    case a128GCM = "A128GCM"
    case a192GCM = "A192GCM"
    case a256GCM = "A256GCM"
    case a128CBC = "A128CBC-HS256"
    case a192CBC = "A192CBC-HS384"
    case a256CBC = "A256CBC-HS512"

    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// Those of CBC are two keys of equal length: HMAC's and AES's.
    var keyLength: Int {
        switch self {
        case .a128GCM: 16
        case .a192GCM: 24
        case .a256GCM, .a128CBC: 32
        case .a192CBC: 48
        case .a256CBC: 64
        }
    }

    var nonceLength: Int { mac == nil ? AES256GCM.nonceLength : 16 }
    var tagLength: Int { mac == nil ? AES256GCM.tagLength : keyLength / 2 }

    private var mac: Algorithm? {
        switch self {
        case .a128GCM, .a192GCM, .a256GCM: nil
        case .a128CBC: .hmacSHA256
        case .a192CBC: .hmacSHA384
        case .a256CBC: .hmacSHA512
        }
    }

    private var cipher: Algorithm {
        switch self {
        case .a128GCM: .aes128GCM
        case .a192GCM: .aes192GCM
        case .a256GCM: .aes256GCM
        case .a128CBC: .aes128CBC
        case .a192CBC: .aes192CBC
        case .a256CBC: .aes256CBC
        }
    }

    /// Decrypts into secret memory; nil unless the tag is valid.
    ///
    /// - Parameters:
    ///   - key: of ``keyLength``; nonce and tag have their lengths, too.
    func open(
        _ ciphertext: Span<UInt8>, tag: Span<UInt8>, nonce: Span<UInt8>,
        authenticating associated: Span<UInt8>,
        key: borrowing SecretBytes
    ) -> SecretBytes? {
        precondition(
            key.count == keyLength && nonce.count == nonceLength && tag.count == tagLength, "lengths")
        return key.withBytes { key in
            guard let mac else {
                return decrypt(ciphertext, tag: tag, nonce: nonce, authenticating: associated, key: key)
            }
            // RFC 7518, section 5.2.2.2: the tag is the first half of the HMAC of all.
            var hmac = HMAC(mac, key: SecretBytes(copying: key.extracting(first: keyLength / 2)))
            hmac.update(associated)
            hmac.update(nonce)
            hmac.update(ciphertext)
            hmac.update(Self.bigEndian(UInt64(associated.count) * 8).span)
            let expected = SecretBytes(count: keyLength)
            expected.withMutableBytes { target in
                unsafe target.withUnsafeMutableBufferPointer { unsafe hmac.finalize(into: $0) }
            }
            guard
                expected.withBytes({ SecretBytes.constantTimeEqual($0.extracting(first: tagLength), tag) })
            else { return nil }
            return decrypt(
                ciphertext, tag: nil, nonce: nonce, authenticating: Span(),
                key: key.extracting(last: keyLength / 2))
        }
    }

    private static func bigEndian(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    /// - Parameter tag: GCM's; nil for CBC, whose padding is removed.
    private func decrypt(
        _ ciphertext: Span<UInt8>, tag: Span<UInt8>?, nonce: Span<UInt8>,
        authenticating associated: Span<UInt8>, key: Span<UInt8>
    ) -> SecretBytes? {
        defer { ERR_clear_error() }
        // OpenSSL's CBC holds back a block, and may write one at the end.
        guard let count = Int32(exactly: ciphertext.count),
            let associatedCount = Int32(exactly: associated.count)
        else { return nil }
        guard let context = unsafe EVP_CIPHER_CTX_new() else { fatalError("out of memory") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let prepared = unsafe key.withUnsafeBufferPointer { key in
            unsafe nonce.withUnsafeBufferPointer { nonce in
                unsafe EVP_DecryptInit_ex(context, cipher.pointer, nil, key.baseAddress, nonce.baseAddress)
            }
        }
        require(prepared == 1, "decryption")
        var (written, more): (Int32, Int32) = (0, 0)
        let text = SecretBytes(count: ciphertext.count + 16)
        let isGenuine = text.withMutableBytes { text in
            unsafe text.withUnsafeMutableBufferPointer { text in
                if let tag {
                    let isSet = unsafe tag.withUnsafeBufferPointer { tag in
                        // OpenSSL only reads the tag.
                        unsafe EVP_CIPHER_CTX_ctrl(
                            context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count),
                            UnsafeMutablePointer(mutating: tag.baseAddress)) == 1
                    }
                    let isAuthenticated = unsafe associated.withUnsafeBufferPointer {
                        unsafe EVP_DecryptUpdate(context, nil, &written, $0.baseAddress, associatedCount) == 1
                    }
                    guard isSet, isAuthenticated else { return false }
                    written = 0
                }
                let isDecrypted = unsafe ciphertext.withUnsafeBufferPointer {
                    unsafe count == 0
                        || EVP_DecryptUpdate(context, text.baseAddress, &written, $0.baseAddress, count) == 1
                }
                guard isDecrypted, let start = text.baseAddress else { return false }
                return unsafe EVP_DecryptFinal_ex(context, start + Int(written), &more) == 1
            }
        }
        guard isGenuine else { return nil }
        return text.withBytes { SecretBytes(copying: $0.extracting(first: Int(written) + Int(more))) }
    }
}
