import Testing
import VaultCrypto

@Suite struct SHA512DigestTests {
    /// FIPS 180-2, appendix C, and the empty message.
    @Test(arguments: [
        (
            "",
            """
            cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce
            47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e
            """
        ),
        (
            "abc",
            """
            ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a
            2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
            """
        ),
    ])
    func matchesPublishedVectors(text: String, digest: String) {
        let made = SHA512.hash(Array(text.utf8).span)
        #expect(made.bytes == hex(digest))
        #expect(made.hex == digest.filter { !$0.isNewline })
    }

    @Test func hexGivesTheSameDigest() {
        let digest = SHA512.hash([UInt8]("abc".utf8).span)
        #expect(SHA512Digest(hex: digest.hex) == digest)
    }

    @Test(arguments: [
        "", String(repeating: "0", count: 64), String(repeating: "0", count: 127),
        String(repeating: "0", count: 129), String(repeating: "0", count: 127) + "A",
        "A" + String(repeating: "0", count: 127), String(repeating: "0", count: 126) + "é",
        String(repeating: "0", count: 63) + "é" + String(repeating: "0", count: 63),
    ])
    func invalidHexIsRefused(text: String) {
        #expect(SHA512Digest(hex: text) == nil)
    }

    @Test func everyByteIsCompared() {
        let digits = Array(repeating: "0", count: 128)
        for index in digits.indices {
            var changed = digits
            changed[index] = "1"
            #expect(SHA512Digest(hex: changed.joined()) != SHA512Digest(hex: digits.joined()))
        }
    }
}
