import Testing
import VaultBase

struct TextEncodingTests {
    @Test func hexadecimalDigits() {
        #expect(Hexadecimal.encode([0x00, 0x9F, 0xA0, 0xFF]) == "009fa0ff")
        #expect(Hexadecimal.decode("009Fa0fF") == [0x00, 0x9F, 0xA0, 0xFF])
        #expect(Hexadecimal.decode("") == [])
    }

    @Test(arguments: ["0", "0g", "/0", ":0", "@0", "G0", "`0", "0x", " 00", "é0"])
    func rejectsInvalidHexadecimal(_ text: String) {
        #expect(Hexadecimal.decode(text) == nil)
    }

    @Test func percentEncoding() {
        #expect(PercentEncoding.encode("a-Z_0.~") == "a-Z_0.~")
        #expect(PercentEncoding.encode("a/é %") == "a%2F%C3%A9%20%25")
        #expect(PercentEncoding.decode("a%2f%C3%A9%20%25".utf8) == Array("a/é %".utf8))
        #expect(PercentEncoding.decode("%00".utf8) == [0])
    }

    @Test(arguments: ["%", "%4", "%4g", "a%%41", "%-1"])
    func rejectsInvalidPercentEncoding(_ text: String) {
        #expect(PercentEncoding.decode(text.utf8) == nil)
    }

    /// Canonically equivalent strings differ in their bytes.
    @Test func stringsAreComparedByBytes() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(composed == decomposed && !composed.hasSameBytes(as: decomposed))
        #expect("a".bytesPrecede("b") && "a".bytesPrecede("aa") && !"a".bytesPrecede("a"))
    }

    @Test func integersAreReadAndWritten() {
        let bytes: [UInt8] = [1, 2, 3, 4]
        #expect(bytes.span.bigEndian(UInt16.self, at: 2) == 0x0304)
        #expect(bytes.span.bigEndian(UInt16.self, at: 3) == nil)
        #expect(bytes.span.bigEndian(UInt16.self, at: -1) == nil)
        #expect(bytes.span.littleEndian(at: 1, byteLength: 3) == 0x040302)
        #expect(bytes.span.littleEndian(at: 1, byteLength: 4) == nil)
    }

    @Test func partitionPointIsFound() {
        #expect((0..<10).partitionPoint { $0 >= 7 } == 7)
        #expect((0..<10).partitionPoint { _ in true } == 0)
        #expect((0..<10).partitionPoint { _ in false } == 10)
    }
}
