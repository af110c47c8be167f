import Foundation
import Testing
import VaultBase
import VaultCrypto

@Suite struct Ed25519Tests {
    /// RFC 8032, section 7.1, tests 1 to 3: seed, public key, message, signature.
    static let vectors = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            """
            e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b
            d25bf5f0595bbe24655141438e7a100b
            """
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            """
            92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c
            387b2eaeb4302aeeb00d291612bb0c00
            """
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            """
            6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659
            4a7c15e9716ed28dc027beceea1ec40a
            """
        ),
    ]

    /// RFC 8410, section 7: PKCS#8 around the seed.
    static func pem(seed: [UInt8]) -> SecretBytes {
        let der = Data(hex("302e020100300506032b657004220420") + seed)
        let text = "-----BEGIN PRIVATE KEY-----\n\(der.base64EncodedString())\n-----END PRIVATE KEY-----\n"
        return secret(Array(text.utf8))
    }

    @Test(arguments: vectors)
    func matchesPublishedVectors(seed: String, publicKey: String, message: String, signature: String) throws {
        let key = try Ed25519PrivateKey(pem: Self.pem(seed: hex(seed)))
        let signed = try key.sign(hex(message).span)
        let own = key.publicKey
        #expect(own.raw == hex(publicKey))
        #expect(signed == hex(signature))
        #expect(own.accepts(signed, hex(message)))
        #expect(Ed25519PublicKey(raw: hex(publicKey).span) == own)
    }

    @Test func everyFlippedBitIsDetected() throws {
        let key = Ed25519PrivateKey()
        let publicKey = key.publicKey
        let bytes = message(100)
        let signature = try key.sign(bytes.span)
        #expect(publicKey.accepts(signature, bytes))
        for bit in 0..<8 * signature.count {
            var changed = signature
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!publicKey.accepts(changed, bytes))
        }
        #expect(!publicKey.accepts(signature, Array(bytes.dropLast())))
        #expect(!Ed25519PrivateKey().publicKey.accepts(signature, bytes))
        for count in [0, 63, 65, 128] {
            let other = Array((signature + signature).prefix(count))
            #expect(!publicKey.accepts(other, bytes))
        }
    }

    @Test(arguments: [0, 31, 33]) func otherPublicKeySizesAreRefused(count: Int) {
        #expect(Ed25519PublicKey(raw: message(count).span) == nil)
    }

    @Test func keysAreReadFromTheirPEM() throws {
        let key = Ed25519PrivateKey()
        let text = try key.pem()
        let again = try Ed25519PrivateKey(pem: text)
        #expect(String(decoding: text.exposed, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(again.publicKey == key.publicKey)
        let bytes = message(100)
        #expect(try again.sign(bytes.span) == key.sign(bytes.span))
        #expect(Ed25519PrivateKey().publicKey != key.publicKey)
    }

    /// An X25519 key, an encrypted Ed25519 key (without a prompt for its passphrase), and other text.
    @Test(arguments: [
        "", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", "no key",
        """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VuBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
        -----END PRIVATE KEY-----
        """,
        """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
        -----END PUBLIC KEY-----
        """,
        """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhDgfwSFbYckgICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEFR6pN0F5UEPFF/Z8RB0maoEQG0i
        za5Fgv9/c8H9med7ttjbbh8T73t+Rq2dcFT2kcUM2HJWGrWMvDpTEPEy0hduYFDh
        YMcDjtOCKyUTwPovQI0=
        -----END ENCRYPTED PRIVATE KEY-----
        """,
    ])
    func otherTextsAreRefused(text: String) {
        let pem = secret(Array(text.utf8))
        #expect(failure { () throws(VaultError) in _ = try Ed25519PrivateKey(pem: pem) } == .key)
    }
}

extension Ed25519PublicKey {
    /// `#expect` can't take a `Span`.
    fileprivate func accepts(_ signature: [UInt8], _ message: [UInt8]) -> Bool {
        isValid(signature: signature.span, for: message.span)
    }
}
