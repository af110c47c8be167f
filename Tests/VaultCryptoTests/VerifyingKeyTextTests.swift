import Testing

@testable import VaultCrypto

@Suite struct VerifyingKeyTextTests {
    typealias Vectors = SignatureVectors

    @Test(arguments: [Vectors.ed25519, Vectors.p256, Vectors.rsa])
    func pemAndDERAreTheSameKey(text: String) throws {
        let key = try #require(VerifyingKey(text: text))
        #expect(key.pem == text + "\n")
        #expect(key.encoded == DER.decoded(pem: text))
        #expect(VerifyingKey(text: key.pem) == key)
    }

    @Test(arguments: [Vectors.ed25519, Vectors.p256, Vectors.rsa])
    func whitespaceIsIgnored(text: String) throws {
        let key = try #require(VerifyingKey(text: text))
        for width in [1, 4, 61, 63, 65, 76, 1_000] {
            #expect(VerifyingKey(text: DER.pem(key.encoded, width: width)) == key, "\(width) characters")
        }
        for other in [
            DER.pem(key.encoded, lineEnd: "\r\n"), DER.pem(key.encoded, lineEnd: " \t\n"),
            "\n \r\n\t\n" + text,
            text + "\n\n \r\n\t", text,
        ] {
            #expect(VerifyingKey(text: other) == key)
        }
    }

    @Test func equalKeysHaveEqualEncodings() throws {
        let key = try #require(VerifyingKey(text: Vectors.p256))
        for other in [Vectors.p256Compressed, Vectors.p256Hybrid] {
            let same = try #require(VerifyingKey(text: other))
            #expect(same.encoded == key.encoded)
            #expect(same.accepts(hex(Vectors.p256Signature), Vectors.message))
        }
        // Some programs omit rsaEncryption's parameters.
        let rsa = try #require(VerifyingKey(text: Vectors.rsa))
        let numbers = Array(rsa.encoded.dropFirst(24))
        let algorithm = hex("06092a864886f70d010101")
        #expect(DER.publicKey(algorithm: DER.value(0x30, algorithm + [5, 0]), numbers) == rsa.encoded)
        let bare = DER.publicKey(algorithm: DER.value(0x30, algorithm), numbers)
        #expect(VerifyingKey(text: DER.pem(bare)) == rsa)
    }

    @Test func differentKeysDiffer() {
        let keys = [Vectors.ed25519, Vectors.p256, Vectors.rsa, VerifyingKeyTests.otherP256]
            .map { VerifyingKey(text: $0) }
        #expect(Set(keys).count == 4)
    }

    @Test(arguments: [
        (2_047, false), (2_048, true), (2_049, true), (4_096, true), (16_384, true), (16_385, false),
    ])
    func sizeOfRSAKeysIsLimited(bits: Int, supported: Bool) {
        let key = VerifyingKey(text: DER.pem(DER.rsa(bits: bits)))
        #expect((key?.scheme == .rsaPSSSHA256) == supported)
        #expect(key == nil || key?.encoded == DER.rsa(bits: bits))
    }

    @Test(arguments: [
        UnsupportedKeys.p384, UnsupportedKeys.secp256k1, UnsupportedKeys.p256SpelledOut,
        UnsupportedKeys.ed448, UnsupportedKeys.x25519, UnsupportedKeys.rsa1024, UnsupportedKeys.rsaPSS,
        UnsupportedKeys.rsaPKCS1, UnsupportedKeys.dsa, UnsupportedKeys.certificate, EncryptedKeys.pbkdf2,
    ])
    func otherKindsAreRefused(text: String) {
        #expect(VerifyingKey(text: text) == nil)
    }

    @Test func privateKeysAreRefused() throws {
        let text = try Ed25519PrivateKey().pem().exposed
        let key = VerifyingKey(pem: text.span)
        #expect(key == nil)
    }

    @Test(arguments: [
        "", "\n", "no key", Vectors.ed25519 + "\n" + Vectors.p256, Vectors.ed25519 + Vectors.ed25519,
        Vectors.ed25519 + "\nx", Vectors.ed25519 + "\n\0", "x\n" + Vectors.ed25519, "x" + Vectors.ed25519,
        "-----BEGIN PUBLIC KEY-----x\n" + Vectors.ed25519, "\u{feff}" + Vectors.ed25519,
        String(Vectors.ed25519.dropLast()), String(Vectors.ed25519.dropFirst()),
        Vectors.ed25519.replacing("END PUBLIC", with: "END PRIVATE"),
        Vectors.ed25519.replacing("PUBLIC KEY-----\nM", with: "PUBLIC KEY-----\nComment: x\n\nM"),
        Vectors.ed25519.replacing(
            "PUBLIC KEY-----\nM",
            with:
                "PUBLIC KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\nM"
        ),
        "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n", "-----BEGIN PUBLIC KEY-----",
        "-----BEGIN PUBLIC KEY-----END PUBLIC KEY-----", "-----END PUBLIC KEY-----",
        // Bits after the end, missing, excess or misplaced padding, the URL alphabet.
        Vectors.ed25519.replacing("=\n", with: "\n"), Vectors.ed25519.replacing("=\n", with: "==\n"),
        Vectors.ed25519.replacing("=\n", with: "=====\n"), Vectors.p256.replacing("MFkw", with: "MFk="),
        Vectors.p256.replacing("MFkw", with: "MFkw===="), Vectors.p256.replacing("MFkw", with: "MF-w"),
        Vectors.ed25519.replacing("s=\n", with: "t=\n"),
        Vectors.ed25519 + String(repeating: "\n", count: 1 << 14),
    ])
    func otherTextsAreRefused(text: String) {
        #expect(VerifyingKey(text: text) == nil)
    }

    /// No bytes are no content.
    @Test(arguments: ["", "\n", " \n\t\n"]) func emptyBlocksAreRefused(inside: String) {
        let text = Array("-----BEGIN PUBLIC KEY-----\(inside)-----END PUBLIC KEY-----\n".utf8)
        let content = PublicKeyPEM.content(of: text.span)
        #expect(content == nil)
    }

    @Test(arguments: [Vectors.ed25519, Vectors.p256, Vectors.rsa])
    func damagedBytesAreRefused(text: String) throws {
        let bytes = DER.decoded(pem: text)
        #expect(VerifyingKey(text: DER.pem(bytes + [0])) == nil)
        #expect(VerifyingKey(text: DER.pem(bytes + bytes)) == nil)
        for count in bytes.indices {
            #expect(VerifyingKey(text: DER.pem(Array(bytes.prefix(count)))) == nil, "\(count) bytes")
        }
    }

    /// The point at infinity, a point not on the curve, invalid points.
    @Test(arguments: [[0], [4] + message(64), [2] + [UInt8](repeating: 0xff, count: 32), [], [4]])
    func otherPointsAreRefused(point: [UInt8]) {
        let bytes = DER.publicKey(algorithm: hex("301306072a8648ce3d020106082a8648ce3d030107"), point)
        #expect(VerifyingKey(text: DER.pem(bytes)) == nil)
    }
}
