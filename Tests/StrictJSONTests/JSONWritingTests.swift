import StrictJSON
import Testing

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
                "x": "\\u000a\\u001f\u{7F}\\"\\\\"
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

    @Test func orderOfMembersDoesNotMatter() throws {
        #expect(try parse(#"{"a":1,"b":2}"#).pretty() == parse(#"{"b":2,"a":1}"#).pretty())
        #expect(try parse(#"{"a":1,"b":2}"#).hashValue == parse(#"{"b":2,"a":1}"#).hashValue)
    }
}
