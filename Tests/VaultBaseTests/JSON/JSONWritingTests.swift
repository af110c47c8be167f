import Testing
import VaultBase

@Suite struct JSONWritingTests {
    @Test func canonicalSortsByBytesAndEscapesTwoCharactersOnly() throws {
        let value = try parse(
            #"{"b": [1, {"z":null, "a":true}], "a":"q\"b\\n\n\u0001é/", "B":-5, "😀":1, "ﬀ":2, "":[]}"#)
        #expect(
            value.canonical()
                == Array(
                    "{\"\":[],\"B\":-5,\"a\":\"q\\\"b\\\\n\n\u{1}é/\",\"b\":[1,{\"a\":true,\"z\":null}],\"ﬀ\":2,\"😀\":1}"
                        .utf8))
    }

    @Test func prettyIsReadableAndReadsBack() throws {
        let value: JSONValue = ["b": [1, [:], []], "a": ["x": "\n\u{1F}\u{7F}\"\\"], "c": [["d": .null]]]
        let expected = """
            {
              "a": {
                "x": "\\u000a\\u001f\\u007f\\"\\\\"
              },
              "b": [
                1,
                {},
                []
              ],
              "c": [
                {
                  "d": null
                }
              ]
            }

            """
        #expect(value.pretty() == Array(expected.utf8))
        #expect(try JSONValue(parsing: value.pretty().span, place: "test") == value)
    }

    /// Terminal controls are escaped, except in signed bytes.
    @Test(arguments: [
        "\u{7F}", "\u{80}", "\u{9B}", "\u{9F}", "\u{61C}", "\u{200E}", "\u{200F}", "\u{2028}", "\u{2029}",
        "\u{202A}", "\u{202E}", "\u{2066}", "\u{2069}",
    ])
    func terminalControlsAreEscaped(text: String) throws {
        let value = JSONValue.object(["a\(text)": .string("ö\(text)\\😀")])
        let number = try #require(text.unicodeScalars.first).value
        let digits = String(number, radix: 16)
        let escape = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        #expect(value.compact() == Array("{\"a\(escape)\":\"ö\(escape)\\\\😀\"}\n".utf8))
        #expect(try JSONValue(parsing: value.pretty().span, place: "test") == value)
        #expect(value.canonical() == Array("{\"a\(text)\":\"ö\(text)\\\\😀\"}".utf8))
    }

    @Test func orderOfMembersDoesNotMatter() throws {
        #expect(try parse(#"{"a":1,"b":2}"#).pretty() == parse(#"{"b":2,"a":1}"#).pretty())
        #expect(try parse(#"{"a":1,"b":2}"#).hashValue == parse(#"{"b":2,"a":1}"#).hashValue)
    }
}
