import Testing
import VaultBase

@Suite struct Base64URLTests {
    @Test(
        arguments: [
            ("", []), ("Zg", [0x66]), ("Zm8", [0x66, 0x6F]), ("Zm9v", [0x66, 0x6F, 0x6F]),
            ("-_-_", [0xFB, 0xFF, 0xBF]),
            ("AAECAwQ", [0, 1, 2, 3, 4]),
        ] as [(String, [UInt8])])
    func encodesAndDecodes(_ text: String, _ bytes: [UInt8]) {
        #expect(Base64URL.encode(bytes.span) == text)
        #expect(Base64URL.decode(text.utf8) == bytes)
    }

    @Test func roundTripsAllBytesAtEveryLength() {
        for count in 0...260 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count) }
            let text = Base64URL.encode(bytes.span)
            #expect(text.utf8.count == Base64URL.encodedLength(of: count))
            #expect(Base64URL.decode(text.utf8) == bytes)
        }
    }

    @Test func acceptsExactly64Characters() {
        let allowed = (UInt8.min...UInt8.max).filter { Base64URL.decode([$0, 0x41, 0x41, 0x41].span) != nil }
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        #expect(allowed == alphabet.utf8.sorted())
    }

    @Test(arguments: ["A", "AAAAA", "Zg==", "Zh", "Zm9", "Zm 9", "Zm9v\n", "+/+/", "Zg.", "é0"])
    func rejectsNonCanonicalText(_ text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test func writesIntoCallersMemory() {
        var small: [UInt8] = [0, 0]
        var output = small.mutableSpan
        #expect(Base64URL.decode(Array("Zm9v".utf8).span, into: &output) == nil)
        #expect(Base64URL.encode([1, 2].span, into: &output) == nil)
        var exact: [UInt8] = [0, 0, 0, 9]
        var place = exact.mutableSpan
        #expect(Base64URL.decode(Array("Zm9v".utf8).span, into: &place) == 3)
        #expect(exact == [0x66, 0x6F, 0x6F, 9])
    }
}
