import Testing
import VaultBase

@Suite struct JSONReaderTests {
    @Test func tokensInOrder() throws {
        let source = Array(#"{"k": ["a\n", 1], "z": {}}"#.utf8)
        var reader = JSONReader(place: "test")
        var kinds: [String] = []
        while case let token = try reader.next(in: source.span), token != .end {
            switch token {
            case .key(let text), .string(let text): kinds.append(text.string(in: source.span))
            case .integer(let value): kinds.append(String(value))
            default: kinds.append("\(token)")
            }
        }
        #expect(
            kinds == [
                "beginObject", "k", "beginArray", "a\n", "1", "endArray", "z", "beginObject", "endObject",
                "endObject",
            ])
        #expect(try reader.next(in: source.span) == .end)
    }

    @Test func stringsAreReadByRange() throws {
        let source = Array(#"{"k":"c2VjcmV0"}"#.utf8)
        var reader = JSONReader(place: "test")
        _ = try reader.next(in: source.span)
        _ = try reader.next(in: source.span)
        #expect(try reader.next(in: source.span) == .string(JSONText(range: 6..<14, hasEscapes: false)))
    }
}
