import VaultBytes
public import VaultErrors

extension JSONSource {
    /// The text with a new value of one member; nil removes it. Missing objects of its path are added. Only the bytes
    /// of that member change, and new text has the layout of its neighbours.
    ///
    /// - Parameter path: the keys from the outermost object to the member.
    /// - Throws: `corrupt` if another value of the path is not an object.
    public func setting(_ path: [String], to value: JSONValue?) throws(VaultError) -> JSONSource {
        guard !path.isEmpty else { return self }
        var node = root
        for (depth, key) in path.enumerated() {
            guard case .object = node.value else {
                throw VaultError(
                    .corrupt, "expected an object, found \(node.value.kind)",
                    at: place(of: node.range.lowerBound), remedy: "correct it")
            }
            guard let index = node.members.firstIndex(where: { $0.key.hasSameBytes(as: key) }) else {
                guard let value else { return self }
                // Missing objects of the path are part of the added value.
                let added = path[(depth + 1)...].reversed().reduce(value) { inner, key in
                    .object(JSONObject(lastWins: [(key, inner)]))
                }
                return try inserting(key, added, into: node)
            }
            if depth < path.count - 1 {
                node = node.members[index].node
                continue
            }
            guard let value else { return try removing(index, from: node) }
            let old = node.members[index].node
            guard old.value != value else { return self }
            return try replacing(
                old.range, with: style.text(of: value, on: indentation(at: old.range.lowerBound)))
        }
        return self
    }

    private func replacing(_ range: Range<Int>, with text: [UInt8]) throws(VaultError) -> JSONSource {
        var edited = bytes
        edited.replaceSubrange(range, with: text)
        return try JSONSource(parsing: edited, name: name)
    }

    private func inserting(_ key: String, _ value: JSONValue, into object: JSONNode) throws(VaultError)
        -> JSONSource
    {
        guard let last = object.members.last else {
            let inside = indentation(at: object.range.lowerBound) + style.indent
            var text = Array("{".utf8)
            if !style.isOneLine { text += style.newline + inside }
            text += style.text(ofKey: key, separator: style.colon)
            text += style.text(of: value, on: inside)
            if !style.isOneLine { text += style.newline + indentation(at: object.range.lowerBound) }
            text.append(UInt8(ascii: "}"))
            return try replacing(object.range, with: text)
        }
        let gap = self.gap(before: object.members.count - 1, of: object)
        let colon = Array(bytes[last.keyRange.upperBound..<last.node.range.lowerBound])
        // Uses several lines unless a neighbour with content is on one line.
        let isEmpty = last.node.members.isEmpty && last.node.elements.isEmpty
        let isFlat = !isEmpty && !bytes[last.node.range].contains(UInt8(ascii: "\n"))
        let spreads = gap.contains(UInt8(ascii: "\n")) && !isFlat
        var text = Array(",".utf8) + gap
        text += style.text(ofKey: key, separator: colon.contains(UInt8(ascii: "\n")) ? style.colon : colon)
        text +=
            spreads
            ? style.text(of: value, on: indentation(at: last.keyRange.lowerBound)) : style.line(of: value)
        return try replacing(last.node.range.upperBound..<last.node.range.upperBound, with: text)
    }

    private func removing(_ index: Int, from object: JSONNode) throws(VaultError) -> JSONSource {
        let members = object.members
        let removed: Range<Int>
        if index > 0 {
            removed = members[index - 1].node.range.upperBound..<members[index].node.range.upperBound
        } else if members.count > 1 {
            removed = members[0].keyRange.lowerBound..<members[1].keyRange.lowerBound
        } else {
            removed = object.range.lowerBound + 1..<object.range.upperBound - 1
        }
        return try replacing(removed, with: [])
    }

    /// The whitespace between a member and the comma or brace before it.
    private func gap(before index: Int, of object: JSONNode) -> [UInt8] {
        let key = object.members[index].keyRange.lowerBound
        let gap = Array(bytes[..<key].reversed().prefix(while: Self.isWhiteSpace).reversed())
        // A single member may have no space after the brace.
        return gap.isEmpty && index == 0 && style.colon.count > 1 ? Array(" ".utf8) : gap
    }

    /// The indentation of a byte's line.
    private func indentation(at position: Int) -> [UInt8] {
        let start = bytes[..<position].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return Array(bytes[start..<position].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") })
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
