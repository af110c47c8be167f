import Testing
import VaultCrypto

@Suite struct VerifyingKeyTests {
    typealias Vectors = SignatureVectors

    static let signed: [(scheme: VerifyingKey.Scheme, pem: String, signature: String)] = [
        (.ed25519, Vectors.ed25519, Vectors.ed25519Signature),
        (.ecdsaP256SHA256, Vectors.p256, Vectors.p256Signature),
        (.rsaPSSSHA256, Vectors.rsa, Vectors.rsaSignature),
        (.rsaPSSSHA256, Vectors.rsa, Vectors.rsaLongSaltSignature),
        (.rsaPSSSHA256, Vectors.rsa, Vectors.rsaUnsaltedSignature),
        (.rsaPSSSHA256, Vectors.rsa, Vectors.rsaSignatureOfSmallValue),
    ]

    @Test(arguments: signed)
    func validSignaturesAreAccepted(scheme: VerifyingKey.Scheme, pem: String, signature: String) throws {
        let key = try #require(VerifyingKey(text: pem))
        #expect(key.scheme == scheme)
        #expect(key.accepts(hex(signature), Vectors.message))
        #expect(!key.accepts(hex(signature), Array("another message".utf8)))
        #expect(!key.accepts(hex(signature), []))
    }

    @Test(arguments: signed)
    func changedBytesAreRefused(scheme: VerifyingKey.Scheme, pem: String, signature: String) throws {
        let key = try #require(VerifyingKey(text: pem))
        let signature = hex(signature)
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.accepts(changed, Vectors.message), "byte \(index)")
        }
    }

    @Test(arguments: signed)
    func otherLengthsAreRefused(scheme: VerifyingKey.Scheme, pem: String, signature: String) throws {
        let key = try #require(VerifyingKey(text: pem))
        let signature = hex(signature)
        let others: [[UInt8]] = [
            [], [0], signature.dropLast(), Array(signature.dropFirst()), signature + [0], [0] + signature,
            signature + signature, signature + [UInt8](repeating: 0, count: 1 << 20),
        ]
        for other in others {
            #expect(!key.accepts(other, Vectors.message), "\(other.count) bytes")
        }
    }

    @Test func otherKeysAndSchemesAreRefused() throws {
        for (_, pem, _) in Self.signed {
            let key = try #require(VerifyingKey(text: pem))
            for (_, otherPEM, signature) in Self.signed where otherPEM != pem {
                #expect(!key.accepts(hex(signature), Vectors.message))
            }
        }
        let sameKind = try #require(VerifyingKey(text: Self.otherP256))
        #expect(sameKind.scheme == .ecdsaP256SHA256)
        #expect(!sameKind.accepts(hex(Vectors.p256Signature), Vectors.message))
    }

    @Test(arguments: [
        (Vectors.rsa, OtherRSASignatures.pkcs1), (Vectors.rsa, OtherRSASignatures.sha512),
        (Vectors.rsa, OtherRSASignatures.maskedWithSHA512), (Vectors.p256, Vectors.p256SHA512Signature),
    ])
    func otherPaddingsAndHashesAreRefused(pem: String, signature: String) throws {
        let key = try #require(VerifyingKey(text: pem))
        #expect(!key.accepts(hex(signature), Vectors.message))
    }

    /// The same two numbers in other encodings: 64 raw bytes, a long form of the length, more leading zeros.
    @Test func otherECDSAEncodingsAreRefused() throws {
        let key = try #require(VerifyingKey(text: Vectors.p256))
        let signature = hex(Vectors.p256Signature)
        let content = signature.dropFirst(2)
        let first = Array(content.dropFirst(2).prefix(Int(content[3])))
        let second = Array(content.dropFirst(4 + first.count))
        func sequence(_ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
            DER.value(0x30, DER.value(0x02, first) + DER.value(0x02, second))
        }
        #expect(sequence(first, second) == signature)
        #expect(key.accepts(sequence(first, second), Vectors.message))
        let others: [[UInt8]] = [
            first.suffix(32) + second.suffix(32), [0x30, 0x81, UInt8(content.count)] + content,
            sequence([0] + first, second), sequence(first, [0] + second), sequence([0], [0]),
            sequence([], []), sequence([1], second), sequence(first, [0]),
        ]
        for other in others {
            #expect(!key.accepts(other, Vectors.message))
        }
    }

    @Test func wrapsEd25519() throws {
        let key = try #require(VerifyingKey(text: Vectors.ed25519))
        let raw = try #require(key.ed25519)
        #expect(VerifyingKey(raw) == key)
        #expect(VerifyingKey(raw).hashValue == key.hashValue)
        #expect(key.encoded == DER.publicKey(algorithm: hex("300506032b6570"), raw.raw))
        #expect(VerifyingKey(text: Vectors.p256)?.ed25519 == nil)
        #expect(VerifyingKey(text: Vectors.rsa)?.ed25519 == nil)
        // 32 bytes that are not a point of the curve are a key that accepts no signature.
        let thirtyTwo = Ed25519PublicKey(raw: [UInt8](repeating: 2, count: 32).span)
        let noPoint = try #require(thirtyTwo)
        #expect(!VerifyingKey(noPoint).accepts(hex(Vectors.ed25519Signature), Vectors.message))
    }

    static let otherP256 = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEfbkpmwzpCxE6dcirJEFcRlIzlPvN
        WAz+EVVWvgmkLrTFnrANbgt1iVCkqatF51/nwyndji8sxFOI71Uf6RRi8w==
        -----END PUBLIC KEY-----
        """
}

extension VerifyingKey {
    init?(text: String) {
        let bytes = Array(text.utf8)
        self.init(pem: bytes.span)
    }

    /// `#expect` can't take a `Span`.
    func accepts(_ signature: [UInt8], _ message: [UInt8]) -> Bool {
        isValid(signature: signature.span, for: message.span)
    }
}
