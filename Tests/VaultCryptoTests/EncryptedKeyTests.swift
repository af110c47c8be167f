import Testing
import VaultBase
import VaultCrypto

@Suite struct EncryptedKeyTests {
    @Test(arguments: [EncryptedKeys.pbkdf2, EncryptedKeys.scrypt])
    func keysOfOpenSSLOpen(text: String) throws {
        let pem = secret(Array(text.utf8))
        let encrypted = Ed25519PrivateKey.isEncrypted(pem: pem)
        #expect(encrypted)
        let key = try Ed25519PrivateKey(
            pem: pem, passphrase: secret(Array(EncryptedKeys.passphrase.utf8)))
        #expect(key.publicKey.raw == hex(EncryptedKeys.publicKey))
    }

    @Test func wrongPassphraseIsReported() throws {
        for wrong in ["correct hors", "correct horse\n", "Correct horse", "x"] {
            let problem = Self.problem(opening: EncryptedKeys.pbkdf2, with: wrong)
            #expect(problem == "the passphrase does not open the private key")
        }
    }

    /// About one in 256 wrong passphrases gives valid padding, and is detected only in the plaintext.
    @Test func everyWrongPassphraseIsReported() throws {
        for number in 0..<1_000 {
            let problem = Self.problem(opening: EncryptedKeys.pbkdf2, with: "\(number)")
            #expect(problem == "the passphrase does not open the private key")
        }
    }

    @Test(arguments: ["", "no key", EncryptedKeys.pbes1, EncryptedKeys.des, EncryptedKeys.x25519] + damaged)
    func otherFilesAreRefused(text: String) {
        let problem = Self.problem(opening: text, with: EncryptedKeys.passphrase)
        #expect(problem == "no encrypted Ed25519 private key in PKCS#8 PEM with PBES2")
    }

    static let damaged = [
        String(EncryptedKeys.pbkdf2.dropLast()), EncryptedKeys.pbkdf2.replacing("\nMI", with: "\nMA"),
        EncryptedKeys.pbkdf2.replacing("ENCRYPTED PRIVATE", with: "PUBLIC"),
        EncryptedKeys.pbkdf2.replacing("ENCRYPTED PRIVATE", with: "RSA PRIVATE"),
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\n-----END ENCRYPTED PRIVATE KEY-----\n",
    ]

    @Test func passphraseForAnUnencryptedKeyIsRefused() throws {
        let pem = try Ed25519PrivateKey().pem()
        let encrypted = Ed25519PrivateKey.isEncrypted(pem: pem)
        #expect(!encrypted)
        let problem = Self.problem(opening: String(decoding: pem.exposed, as: UTF8.self), with: "x")
        #expect(problem == "the private key is not encrypted, though a passphrase was given")
    }

    @Test func emptyPassphraseIsRefused() {
        let key = Ed25519PrivateKey()
        let none = secret([])
        #expect(failure { () throws(VaultError) in _ = try key.pem(encryptedWith: none) } == .key)
        #expect(Self.problem(opening: EncryptedKeys.pbkdf2, with: "") == "the passphrase is empty")
    }

    @Test(arguments: [
        [0], Array("x".utf8), Array("pass phrase\n".utf8), [0x61, 0, 0x62], Array("Schlüssel".utf8),
        [0xff, 0xfe],
        message(5_000),
    ])
    func encryptedKeysOpen(passphrase: [UInt8]) throws {
        let key = Ed25519PrivateKey()
        let passphrase = secret(passphrase)
        let text = try key.pem(encryptedWith: passphrase)
        let encrypted = Ed25519PrivateKey.isEncrypted(pem: text)
        #expect(encrypted)
        let lines = String(decoding: text.exposed, as: UTF8.self)
        #expect(lines.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
        let again = try Ed25519PrivateKey(pem: text, passphrase: passphrase)
        #expect(again.publicKey == key.publicKey)
        #expect(failure { () throws(VaultError) in _ = try Ed25519PrivateKey(pem: text) } == .key)
    }

    /// PBES2, PBKDF2 with 16 bytes of salt, 600,000 iterations and HMAC-SHA-256, AES-256-CBC.
    @Test func encryptionHasDocumentedParameters() throws {
        let key = Ed25519PrivateKey()
        let texts = try [
            key.pem(encryptedWith: secret([1])).exposed, key.pem(encryptedWith: secret([1])).exposed,
        ]
        #expect(texts[0] != texts[1])
        let bytes = DER.decoded(pem: String(decoding: texts[0], as: UTF8.self))
        let parts = [
            "06092a864886f70d01050d", "06092a864886f70d01050c", "0410", "0203" + "0927c0",
            "06082a864886f70d0209", "060960864801650304012a",
        ]
        var rest = bytes[...]
        for part in parts {
            let range = try #require(rest.firstRange(of: hex(part)), "\(part)")
            rest = rest[range.upperBound...]
        }
    }

    @Test(arguments: ["", "no key", SignatureVectors.ed25519, UnsupportedKeys.certificate])
    func otherTextsAreNotEncryptedKeys(text: String) {
        let encrypted = Ed25519PrivateKey.isEncrypted(pem: secret(Array(text.utf8)))
        #expect(!encrypted)
    }

    /// The problem of the error, which must be `.key`; nil if the key opens.
    private static func problem(opening text: String, with passphrase: String) -> String? {
        do throws(VaultError) {
            _ = try Ed25519PrivateKey(
                pem: secret(Array(text.utf8)), passphrase: secret(Array(passphrase.utf8)))
            return nil
        } catch {
            #expect(error.category == .key)
            return error.problem
        }
    }
}
