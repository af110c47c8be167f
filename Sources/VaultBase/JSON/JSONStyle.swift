/// The layout of a JSON text, detected from its outermost object.
struct JSONStyle {
    /// The line separator.
    let newline: [UInt8]
    /// The indentation of one level.
    let indent: [UInt8]
    /// The separator of key and value.
    let colon: [UInt8]
    /// Whether the text has one line.
    let isOneLine: Bool

    /// A value on several indented lines, or on one line if the text has only one.
    func text(of value: JSONValue, on indentation: [UInt8]) -> [UInt8] {
        guard !isOneLine else { return line(of: value) }
        let inside = indentation + indent
        switch value {
        case .object(let object) where !object.isEmpty:
            let items = object.map { text(ofKey: $0.key, separator: colon) + text(of: $0.value, on: inside) }
            return lines(items, between: "{", "}", on: indentation)
        case .array(let elements) where !elements.isEmpty:
            return lines(elements.map { text(of: $0, on: inside) }, between: "[", "]", on: indentation)
        default: return line(of: value)
        }
    }

    private func lines(
        _ items: [[UInt8]], between opening: String, _ closing: String, on indentation: [UInt8]
    ) -> [UInt8] {
        var text = Array(opening.utf8)
        for (index, item) in items.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text += newline
            text += indentation
            text += indent
            text += item
        }
        text += newline
        text += indentation
        text += closing.utf8
        return text
    }

    /// A value on one line.
    func line(of value: JSONValue) -> [UInt8] {
        switch value {
        case .object(let object):
            return line(
                object.map { text(ofKey: $0.key, separator: colon) + line(of: $0.value) }, between: "{", "}")
        case .array(let elements): return line(elements.map { line(of: $0) }, between: "[", "]")
        default: return Array(value.compact().dropLast())
        }
    }

    private func line(_ items: [[UInt8]], between opening: String, _ closing: String) -> [UInt8] {
        var text = Array(opening.utf8)
        text += items.joined(separator: Array((colon.count > 1 ? ", " : ",").utf8))
        text += closing.utf8
        return text
    }

    func text(ofKey key: String, separator: [UInt8]) -> [UInt8] {
        Array(JSONValue.string(key).compact().dropLast()) + separator
    }
}

extension JSONSource {
    var style: JSONStyle {
        let lineEnd = bytes.firstIndex(of: UInt8(ascii: "\n"))
        let isCRLF = lineEnd.map { $0 > 0 && bytes[$0 - 1] == UInt8(ascii: "\r") } ?? false
        let isOneLine = !bytes[root.range].contains(UInt8(ascii: "\n"))
        let first = root.members.first
        var colon = Array(": ".utf8)
        var indent = Array("  ".utf8)
        if let first {
            let found = Array(bytes[first.keyRange.upperBound..<first.node.range.lowerBound])
            if !found.contains(UInt8(ascii: "\n")) { colon = found }
            let key = first.keyRange.lowerBound
            let start = bytes[..<key].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? key
            let isIndentation = bytes[start..<key].allSatisfy { $0 == 0x20 || $0 == 0x09 }
            if start < key, isIndentation { indent = Array(bytes[start..<key]) }
        }
        return JSONStyle(
            newline: Array((isCRLF ? "\r\n" : "\n").utf8), indent: indent, colon: colon, isOneLine: isOneLine)
    }
}
