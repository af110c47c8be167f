import Foundation
import VaultBase

/// A JSON document of a script, in which a path of words leads to a value: `packs level policy`.
///
/// In a list a word is an index, `id=level` for the element with that member, or `#` for the number of elements.
struct ScriptJSON {
    private(set) var value: JSONValue

    init(value: JSONValue) { self.value = value }

    var text: String {
        value.text ?? String(decoding: value.pretty(), as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// The path before `=`, and the value behind it: JSON, or a text that is none.
    static func parts(_ words: ArraySlice<String>) -> (path: ArraySlice<String>, value: JSONValue?) {
        guard let sign = words.firstIndex(of: "=") else { return (words, nil) }
        let text = words[(sign + 1)...].joined(separator: " ")
        let bytes = Array(text.utf8)
        let value = (try? JSONValue(parsing: bytes.span, place: "a script")) ?? .string(text)
        return (words[..<sign], value)
    }

    func value(at path: ArraySlice<String>) throws -> JSONValue? {
        var value = value
        for word in path {
            if word == "#" {
                value = .integer(Int64(value.elements?.count ?? value.members?.count ?? 0))
            } else if let members = value.members {
                guard let member = members[word] else { return nil }
                value = member
            } else {
                guard let elements = value.elements, let index = Self.index(word, in: elements) else {
                    return nil
                }
                value = elements[index]
            }
        }
        return value
    }

    /// Objects on the way are made where they are missing; null removes the last one.
    mutating func set(_ new: JSONValue, at path: ArraySlice<String>) throws {
        value = try Self.changed(value, at: path, to: new)
    }

    private static func changed(
        _ value: JSONValue, at path: ArraySlice<String>, to new: JSONValue
    ) throws -> JSONValue {
        guard let word = path.first else { return new }
        if var elements = value.elements {
            guard let index = index(word, in: elements) else { throw ScriptFailure("nothing is at \(word)") }
            elements[index] = try changed(elements[index], at: path.dropFirst(), to: new)
            return .array(elements)
        }
        var members = value.members ?? [:]
        let member = try changed(members[word] ?? .object([:]), at: path.dropFirst(), to: new)
        members[word] = path.count == 1 && member == .null ? nil : member
        return .object(members)
    }

    private static func index(_ word: String, in elements: [JSONValue]) -> Int? {
        if let index = Int(word) { return elements.indices.contains(index) ? index : nil }
        let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        return elements.firstIndex { $0[parts[0]]?.text == parts[1] }
    }
}
