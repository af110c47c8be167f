import Testing
import VaultCrypto

@Suite struct SHA256DigestTests {
    /// FIPS 180-2, appendix B.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func matchesPublishedVectors(text: String, digest: String) {
        #expect(SHA256.hash(Array(text.utf8).span).hex == digest)
    }

    @Test func partsGiveTheSameDigest() {
        let bytes = message(1_000)
        var hash = SHA256()
        for start in stride(from: 0, to: bytes.count, by: 77) {
            hash.update(bytes.span.extracting(start..<min(start + 77, bytes.count)))
        }
        let inParts = hash.finalize()
        #expect(inParts == SHA256.hash(bytes.span))
    }

    @Test func finalizingBeginsTheNextMessage() {
        let bytes = message(3)
        var hash = SHA256()
        hash.update(bytes.span)
        let first = hash.finalize()
        hash.update(bytes.span)
        let second = hash.finalize()
        let empty = hash.finalize()
        #expect(first == second)
        #expect(empty.hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test func bytesAndHexGiveTheSameDigest() throws {
        let digest = SHA256.hash([UInt8]("abc".utf8).span)
        #expect(SHA256Digest(digest.bytes.span) == digest)
        #expect(SHA256Digest(hex: digest.hex) == digest)
        #expect(digest.hex == "\(digest)")
        var appended: [UInt8] = [7]
        digest.append(to: &appended)
        #expect(appended == [7] + hex(digest.hex))
    }

    @Test func otherLengthsAreRefused() {
        #expect(SHA256Digest([UInt8](repeating: 0, count: 31).span) == nil)
        #expect(SHA256Digest([UInt8](repeating: 0, count: 33).span) == nil)
    }

    @Test(arguments: [
        "", String(repeating: "0", count: 63), String(repeating: "0", count: 65),
        String(repeating: "A", count: 64), String(repeating: "g", count: 64),
        " " + String(repeating: "0", count: 63), String(repeating: "0", count: 62) + "é",
    ])
    func invalidHexIsRefused(text: String) {
        #expect(SHA256Digest(hex: text) == nil)
    }

    @Test func everyByteIsCompared() {
        let bytes = message(32)
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(SHA256Digest(changed.span) != SHA256Digest(bytes.span))
        }
        #expect(Set([SHA256Digest(bytes.span), SHA256Digest(bytes.span)]).count == 1)
    }
}
