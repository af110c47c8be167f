import Testing
import VaultBase

@Suite struct JSONObjectTests {
    @Test func membersAreSetReplacedAndRemoved() {
        var object: JSONObject = ["b": 1, "a": 2, "b": 3]
        #expect(object.count == 2)
        #expect(object["b"] == 3)
        object["c"] = "x"
        object["a"] = nil
        object["missing"] = nil
        #expect(object.map(\.key) == ["b", "c"])
        #expect(object.keys == ["b", "c"])
        #expect(object != ["b": 3])
        #expect(object == ["c": "x", "b": 3])
    }

    @Test func accessorsReturnValues() throws {
        let object = try parse(#"{"s":"x","i":5,"b":true,"a":[1],"o":{"k":"v"}}"#).asObject(at: "test")
        #expect(try object.string("s", at: "test") == "x")
        #expect(try object.integer("i", at: "test") == 5)
        #expect(try object.bool("b", at: "test"))
        #expect(try object.array("a", at: "test") == [1])
        #expect(try object.object("o", at: "test") == ["k": "v"])
        #expect(try object.optionalString("none", at: "test") == nil)
    }

    @Test func accessorErrorsNameTheMember() throws {
        let object: JSONObject = ["i": 5, "n": .null]
        #expect(throws: problem("\"i\" is an integer, not a string")) { try object.string("i", at: "there") }
        #expect(throws: problem("\"none\" is missing")) { try object.integer("none", at: "there") }
        #expect(throws: problem("\"n\" is null, not an object")) {
            try object.optionalObject("n", at: "there")
        }
        #expect(throws: VaultError.self) { try JSONValue.integer(1).asObject(at: "there") }
        #expect(throws: VaultError.self) { try JSONValue.integer(1).asString(at: "there") }
    }

    private func problem(_ text: String) -> VaultError {
        VaultError(.corrupt, "the member \(text)", at: "there", remedy: "get or write the file again")
    }
}
