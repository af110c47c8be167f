import Testing
import VaultBase

/// Edits of handwritten texts keep all other bytes.
@Suite struct JSONEditingTests {
    private func edit(_ text: String, _ path: [String], _ value: JSONValue?) throws -> String {
        let source = try JSONSource(parsing: Array(text.utf8), name: "vault.json")
        return String(decoding: try source.setting(path, to: value).bytes, as: UTF8.self)
    }

    private static let written = """
        {
        \t"zebra" : [1,2],
        \t"packs" : {
        \t\t"b" : {"source" : "x",   "policy":"essential"},
        \t\t"a" : { "pin" : 3 }
        \t},   "format" : 1
        }
        """

    /// Changes and adds a value, removes the first, middle and last one.
    @Test(
        arguments: [
            (["packs", "b", "source"], "y", #""x","#, #""y","#),
            (["packs", "b", "pin"], 4, #""essential"}"#, #""essential",   "pin":4}"#),
            (["packs", "a", "order"], 7, #"{ "pin" : 3 }"#, #"{ "pin" : 3, "order" : 7 }"#),
            (["packs", "a", "pin"], nil, #"{ "pin" : 3 }"#, "{}"),
            (["packs", "b", "policy"], nil, #",   "policy":"essential""#, ""),
            (["packs", "b", "source"], nil, #""source" : "x",   "#, ""),
            (["packs", "c", "source"], "z", "3 }\n", "3 },\n\t\t\"c\" : {\"source\" : \"z\"}\n"),
            (["bins"], 4, "\"format\" : 1", "\"format\" : 1,   \"bins\" : 4"),
            (["zebra"], nil, "\"zebra\" : [1,2],\n\t", ""), (["format"], nil, ",   \"format\" : 1", ""),
            (["format"], 1, "", ""), (["absent", "too"], nil, "", ""),
        ] as [([String], JSONValue?, String, String)])
    func onlyOneMemberChanges(path: [String], value: JSONValue?, old: String, new: String) throws {
        #expect(
            try edit(Self.written, path, value)
                == (old.isEmpty ? Self.written : Self.written.replacing(old, with: new)))
    }

    /// Line ends, indentation and the end of the text are kept.
    @Test(arguments: ["\n", "\r\n"], ["", "\n", "\n\n"]) func lineEndsAreKept(newline: String, end: String)
        throws
    {
        let lines = ["{", "    \"format\": 1,", "    \"packs\": {}", "}"]
        let text = lines.joined(separator: newline) + end
        let wanted = [
            "{", "    \"format\": 1,", "    \"packs\": {", "        \"a\": {",
            "            \"source\": \"x\"",
            "        }", "    }", "}",
        ]
        let once = try edit(text, ["packs", "a", "source"], "x")
        #expect(once == wanted.joined(separator: newline) + end)
        let twice = try edit(once, ["packs", "b", "source"], "y")
        let more =
            wanted[..<5] + ["        },", "        \"b\": {", "            \"source\": \"y\""] + wanted[5...]
        #expect(twice == more.joined(separator: newline) + end)
    }

    @Test(arguments: [
        (#"{"packs":{}}"#, #"{"packs":{"a":{"source":"x"}}}"#),
        (#"{"packs": {}}"#, #"{"packs": {"a": {"source": "x"}}}"#),
        (#"{"packs": {"b": {"source": "y"}}}"#, #"{"packs": {"b": {"source": "y"}, "a": {"source": "x"}}}"#),
        (#"{"packs": {"b":1,"c":2}}"#, #"{"packs": {"b":1,"c":2,"a":{"source": "x"}}}"#),
        (#"{"packs": {"\u0061": {}}}"#, #"{"packs": {"\u0061": {"source": "x"}}}"#),
        ("{\"packs\": {\n}}\n", "{\"packs\": {\n  \"a\": {\n    \"source\": \"x\"\n  }\n}}\n"),
    ]) func oneLineTextsStayOnOneLine(text: String, wanted: String) throws {
        #expect(try edit(text, ["packs", "a", "source"], "x") == wanted)
    }

    @Test func otherValuesThanObjectsAreRefused() throws {
        let error = #expect(throws: VaultError.self) { try edit("{\n \"packs\": []}", ["packs", "a"], 1) }
        #expect(error?.place == "vault.json:2:11")
    }
}

/// Each error has the line and column of the wrong value.
@Suite struct JSONPlaceTests {
    private func place(in text: String, _ read: (LocatedJSON) throws -> Void) -> String? {
        do {
            try read(JSONSource(parsing: Array(text.utf8), name: "f").located)
            return nil
        } catch { return (error as? VaultError)?.place }
    }

    @Test(arguments: [
        ("{\n \"a\" 1}", "f:2:6"), ("{\"a\": 1,\r\n  \"b\": 1.5}", "f:2:9"), ("", "f:1:1"),
        ("{}\n}", "f:2:1"),
        ("{\"ä\": 1, \"ä\": 2}", "f:1:10"), ("{\"a\": {\n\"b\": 1,\n\t\"\\u0062\": 1}}", "f:3:2"),
    ]) func invalidJSONHasAPlace(text: String, place: String) {
        #expect(self.place(in: text) { _ in } == place)
    }

    @Test func unexpectedValuesHaveAPlace() {
        let text = "{\n  \"name\": 12,\n  \"list\": [\"é\", \"a\", true, null],\n  \"o\": {\"x\": -1}\n}"
        #expect(place(in: text) { _ = try $0.required("name").string() } == "f:2:11")
        #expect(place(in: text) { _ = try $0.required("list").strings() } == "f:3:22")
        #expect(place(in: text) { _ = try $0.required("list").elements()[3].object() } == "f:3:28")
        #expect(place(in: text) { _ = try $0.required("o").required("y") } == "f:4:8")
        #expect(place(in: text) { _ = try $0.required("o").required("x").bool() } == "f:4:14")
        #expect(place(in: text) { try $0.required("o").requireMembers(among: ["y"]) } == "f:4:9")
        #expect(place(in: text) { _ = try $0.labelled("pack").required("o").integer() } == "f:4:8: pack")
        #expect(place(in: text) { _ = try $0["absent"]?.string() } == nil)
    }
}
