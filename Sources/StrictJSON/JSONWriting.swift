extension JSONValue {
    /// OLPC canonical JSON, which TUF signs: sorted keys, no white space, in strings only the quote and
    /// the backslash escaped. It is *not* always JSON: control characters stay raw.
    public func canonical() -> [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes, layout: .canonical, depth: 0)
        return bytes
    }

    /// Sorted keys, two spaces a level, a newline at the end; the same value always gives the same bytes.
    public func pretty() -> [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes, layout: .pretty, depth: 0)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Sorted keys, no white space but a newline at the end; the same value always gives the same bytes.
    public func compact() -> [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes, layout: .compact, depth: 0)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private enum Layout {
        case canonical, compact, pretty
    }

    private func write(to bytes: inout [UInt8], layout: Layout, depth: Int) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): bytes.append(contentsOf: String(value).utf8)
        case .string(let value): Self.write(value, to: &bytes, layout: layout)
        case .array(let elements):
            Self.write(elements, between: "[", "]", to: &bytes, layout: layout, depth: depth) {
                element, bytes in
                element.write(to: &bytes, layout: layout, depth: depth + 1)
            }
        case .object(let object):
            Self.write(object.members, between: "{", "}", to: &bytes, layout: layout, depth: depth) {
                member, bytes in
                Self.write(member.key, to: &bytes, layout: layout)
                bytes.append(contentsOf: (layout == .pretty ? ": " : ":").utf8)
                member.value.write(to: &bytes, layout: layout, depth: depth + 1)
            }
        }
    }

    private static func write<Item>(
        _ items: [Item], between opening: Unicode.Scalar, _ closing: Unicode.Scalar, to bytes: inout [UInt8],
        layout: Layout, depth: Int, _ writeItem: (Item, inout [UInt8]) -> Void
    ) {
        bytes.append(UInt8(ascii: opening))
        for (index, item) in items.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            if layout == .pretty { beginLine(depth: depth + 1, in: &bytes) }
            writeItem(item, &bytes)
        }
        if layout == .pretty, !items.isEmpty { beginLine(depth: depth, in: &bytes) }
        bytes.append(UInt8(ascii: closing))
    }

    private static func beginLine(depth: Int, in bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }

    private static func write(_ text: String, to bytes: inout [UInt8], layout: Layout) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        // Nearly every text stands for itself.
        guard !text.utf8.allSatisfy(isPlain) else { return bytes.append(contentsOf: text.utf8) }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x00..<0x20 where layout != .canonical:
                let digits = String(byte, radix: 16)
                bytes.append(contentsOf: "\\u00\(digits.count == 1 ? "0" : "")\(digits)".utf8)
            default:
                bytes.append(byte)
            }
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}
