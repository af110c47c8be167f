import Testing
import VaultBase

func parse(_ text: String) throws(VaultError) -> JSONValue {
    try JSONValue(parsing: Array(text.utf8).span, place: "test.json")
}

func refusal(of bytes: [UInt8]) -> VaultError? {
    do throws(VaultError) {
        _ = try JSONValue(parsing: bytes.span, place: "test.json")
        return nil
    } catch {
        return error
    }
}

@Suite struct JSONParsingTests {
    @Test func allKindsOfValuesAreParsed() throws {
        let text =
            #" {"b":[1,-2,0,-0,9007199254740991,-9007199254740991], "a":{"x":null,"y":true},"":false, "s":"é\n"} "#
        let expected: JSONValue = [
            "": false, "a": ["x": .null, "y": true],
            "b": [1, -2, 0, 0, 9_007_199_254_740_991, -9_007_199_254_740_991], "s": "é\n",
        ]
        #expect(try parse(text) == expected)
        #expect(try parse("\t\r\n 7\n") == 7)
        #expect(try parse("[]") == [])
        #expect(try parse("{}") == [:])
    }

    @Test func escapes() throws {
        #expect(
            try parse(#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00\u0000""#)
                == "\"\\/\u{8}\u{c}\n\r\tAé€😀\0")
    }

    @Test(arguments: [
        "", " ", "nul", "truex", "[1,]", "[,1]", "[1 2]", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "{1:1}",
        "{\"a\":}", "[", "{",
        "]", "}", "[1}", "{\"a\":1]", "\"", "\"\\", "\"\\x\"", "\"\\u12g4\"", "\"\\u12", "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"", "\"\\ud800x\"", "\"\\ud800\\ue000\"", "\"\\ud800\\ud800\"", "\"a\nb\"",
        "\"\0\"", "01", "-01", "00", "-", "+1", "1.0",
        "1e3", "1E3", ".5",
        "0.0", "-0.0", "9007199254740992", "-9007199254740992", "99999999999999999999999", "NaN", "Infinity",
        "'a'",
        "1 1", "{} {}", "[1]x", "// c\n1", "/**/1", "\u{FEFF}1", "\u{A0}1", "\u{0B}1", ":", ",", "[1,,2]",
        "{,}",
        "{\"a\":1 \"b\":2}", "{\"a\"::1}",
    ])
    func invalidTextsAreRefused(_ text: String) {
        #expect(refusal(of: Array(text.utf8))?.category == .corrupt)
    }

    @Test(arguments: ["[1,]", "[1, 2,\n]", "{\"a\":1,}", "{\"a\":[1,]}"])
    func aCommaTooManyIsNamed(_ text: String) {
        #expect(refusal(of: Array(text.utf8))?.problem.contains("a comma stands before the end of") == true)
    }

    @Test(
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xC0, 0xAF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xE2, 0x82, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0x80, 0x22], [0xFF, 0xFE, 0x31, 0x00], [0x22, 0xC3],
        ] as [[UInt8]])
    func invalidUTF8(_ bytes: [UInt8]) {
        #expect(refusal(of: bytes)?.category == .corrupt)
    }

    @Test func duplicateKeys() throws {
        #expect(
            refusal(of: Array(#"{"a":1,"b":2,"a":1}"#.utf8))?.problem.contains("\"a\" occurs twice") == true)
        #expect(refusal(of: Array(#"{"x":{"a":1,"\u0061":1}}"#.utf8))?.category == .corrupt)
        #expect(refusal(of: Array(#"{"":1,"":1}"#.utf8))?.category == .corrupt)
        // Canonically equivalent is not equal.
        let lookalikes = try parse(#"{"\u00e9":1,"e\u0301":2}"#)
        let object = try lookalikes.asObject(at: "test")
        #expect(object.count == 2)
        #expect(object["\u{E9}"] == 1)
        #expect(object["e\u{301}"] == 2)
        #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
    }

    @Test func depthIsLimited() {
        let fits = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(refusal(of: Array(fits.utf8)) == nil)
        #expect(refusal(of: Array("[\(fits)]".utf8))?.problem.contains("64 levels") == true)
        let endless = String(repeating: "{\"a\":[", count: 200_000)
        #expect(refusal(of: Array(endless.utf8))?.category == .corrupt)
    }

    @Test func everyTruncationAndEveryFlippedBitIsHandled() {
        let bytes = Array(#"{"k":[1,"é\ud83d\ude00",{"a":null,"b":false}],"n":-12}"#.utf8)
        for count in bytes.indices {
            #expect(refusal(of: Array(bytes[..<count])) != nil)
        }
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                _ = refusal(of: changed)
            }
        }
    }

    /// Each value takes memory: there are not more of them than texts of this length have.
    @Test func valuesAreBoundedByTheLength() {
        func list(of value: String, _ count: Int) -> [UInt8] {
            Array("[\(String(repeating: value + ",", count: count))0]".utf8)
        }
        for value in ["1", "[]", "{}", "[[1]]", "\"\"", "{\"\":1}"] {
            let problem = refusal(of: list(of: value, 500_000))?.problem
            #expect(
                problem?.contains("too many values for its") == true, "\(value): \(problem ?? "accepted")")
        }
        #expect(refusal(of: list(of: "1", 60_000)) == nil)
        for value in ["\"t\"", "{\"a\":1}", "{\"hashes\":{}}"] {
            #expect(refusal(of: list(of: value, 500_000)) == nil, "\(value)")
        }
    }

    @Test func errorsStatePlaceAndByte() {
        let error = refusal(of: Array("[1,x]".utf8))
        #expect(error?.place == "test.json")
        #expect(error?.problem.contains("byte 3") == true)
    }
}

/// A long array that is read element by element.
@Suite struct JSONElementTests {
    private func read(_ text: String) throws -> (value: JSONValue, taken: [JSONValue]) {
        var taken: [JSONValue] = []
        let value = try JSONValue(parsing: Array(text.utf8).span, place: "test.json", taking: "list") {
            taken.append($0)
        }
        return (value, taken)
    }

    @Test func elementsAreHandedOver() throws {
        let (value, taken) = try read(#"{"a":[1,{"list":[2]}],"list":[{"b":[3]},4,[]],"z":5}"#)
        #expect(value == ["a": [1, ["list": [2]]], "list": [], "z": 5])
        #expect(taken == [["b": [3]], 4, []])
    }

    @Test(arguments: ["7", "[1]", "{}", #"{"list":1}"#]) func otherValuesStay(text: String) throws {
        let (value, taken) = try read(text)
        #expect(try value == parse(text))
        #expect(taken.isEmpty)
    }

    @Test(arguments: [
        "", #"{"list":[1"#, #"{"list":[1,]}"#, #"{"list":[1]"#, #"{"list":[1]}}"#,
        #"{"list":[1],"list":[2]}"#,
        #"{"list":[{"a":1,"a":2}]}"#,
    ]) func invalidTextsAreRefused(text: String) {
        #expect(throws: VaultError.self) { try read(text) }
    }
}
