extension JSONValue {
    /// OLPC canonical JSON, which TUF signs: sorted keys, no white space, only quotes and backslashes escaped in
    /// strings. It is *not* always JSON, as control characters are not escaped.
    public func canonical() -> [UInt8] { written(as: .canonical) }

    /// Sorted keys, two spaces a level, a newline at the end; deterministic. Control characters, line separators and
    /// bidirectional controls are escaped, also those that JSON allows.
    public func pretty() -> [UInt8] { written(as: .pretty) }

    /// Sorted keys, no white space but a newline at the end; escaped like ``pretty()``.
    public func compact() -> [UInt8] { written(as: .compact) }

    private enum Layout {
        case canonical, compact, pretty
    }

    private func written(as layout: Layout) -> [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes, layout: layout, depth: 0)
        if layout != .canonical { bytes.append(UInt8(ascii: "\n")) }
        return bytes
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
        // Most strings need no escapes.
        guard !text.utf8.allSatisfy(isPlain) else { return bytes.append(contentsOf: text.utf8) }
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { bytes.append(UInt8(ascii: "\\")) }
            if layout != .canonical, scalar.needsEscapeForDisplay {
                let digits = String(scalar.value, radix: 16)
                let zeros = String(repeating: "0", count: max(0, 4 - digits.utf8.count))
                bytes.append(contentsOf: "\\u\(zeros)\(digits)".utf8)
            } else {
                bytes.append(contentsOf: scalar.utf8)
            }
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}

extension Unicode.Scalar {
    /// Whether it is a control character, a line separator, or changes the text direction, which is unsafe on
    /// terminals. All have at most four hexadecimal digits.
    fileprivate var needsEscapeForDisplay: Bool {
        switch value {
        case 0x00..<0x20, 0x7F...0x9F: true
        case 0x2028, 0x2029: true
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
