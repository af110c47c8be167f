/// A handwritten JSON text with the position of each value, for errors with lines and for edits that change nothing
/// else.
public struct JSONSource: Sendable {
    public let bytes: [UInt8]
    /// The text's name in errors.
    let name: String
    let root: JSONNode
    private let lines: LineIndex

    /// - Parameter name: the file's name in errors.
    /// - Throws: ``VaultError`` of category `corrupt` with the place `name:LINE:COLUMN`, for every text
    ///   that ``JSONValue/init(parsing:place:)`` refuses.
    public init(parsing bytes: [UInt8], name: String) throws(VaultError) {
        var parser = JSONSourceParser(name: name, bytes: bytes)
        self.bytes = bytes
        self.name = name
        root = try parser.document()
        lines = LineIndex(of: bytes)
    }

    public var value: JSONValue { root.value }

    /// The outermost value.
    public var located: LocatedJSON { LocatedJSON(in: self, root, subject: "it", label: "") }

    /// A byte's line and column, in the form of compilers.
    func place(of position: Int) -> String { "\(name):\(lines.position(of: position, in: bytes))" }
}

/// A value and its range in the text.
struct JSONNode: Sendable {
    struct Member: Sendable {
        let key: String
        /// Including the quotes.
        let keyRange: Range<Int>
        let node: JSONNode
    }

    let range: Range<Int>
    let value: JSONValue
    /// The members of an object, in the order of the text.
    var members: [Member] = []
    /// The elements of an array.
    var elements: [JSONNode] = []

    func member(_ key: String) -> Member? { members.first { $0.key.hasSameBytes(as: key) } }
}

private struct JSONSourceParser {
    private var reader: JSONReader
    private let name: String
    private let bytes: [UInt8]

    init(name: String, bytes: [UInt8]) {
        reader = JSONReader(place: name)
        self.name = name
        self.bytes = bytes
    }

    private func place(of position: Int) -> String {
        "\(name):\(LineIndex(of: bytes).position(of: position, in: bytes))"
    }

    mutating func document() throws(VaultError) -> JSONNode {
        let node = try node(startingWith: try next())
        _ = try next()
        return node
    }

    private mutating func next() throws(VaultError) -> JSONToken {
        let bytes = bytes
        do throws(VaultError) { return try reader.next(in: bytes.span) } catch {
            throw error.with(at: place(of: reader.position))
        }
    }

    /// The reader's depth limit bounds the recursion. Its position is after the token.
    private mutating func node(startingWith token: JSONToken) throws(VaultError) -> JSONNode {
        let end = reader.position
        switch token {
        case .beginObject: return try object(from: end - 1)
        case .beginArray: return try array(from: end - 1)
        case .string(let text):
            return JSONNode(
                range: text.range.lowerBound - 1..<end, value: .string(text.string(in: bytes.span)))
        case .integer(let number):
            let digits = bytes[..<end].reversed().prefix {
                $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0)
            }
            return JSONNode(range: end - digits.count..<end, value: .integer(number))
        case .bool(let flag): return JSONNode(range: end - (flag ? 4 : 5)..<end, value: .bool(flag))
        case .null: return JSONNode(range: end - 4..<end, value: .null)
        case .key, .endObject, .endArray, .end: return JSONNode(range: end..<end, value: .null)
        }
    }

    private mutating func array(from start: Int) throws(VaultError) -> JSONNode {
        var elements: [JSONNode] = []
        while case let token = try next(), token != .endArray {
            elements.append(try node(startingWith: token))
        }
        return JSONNode(
            range: start..<reader.position, value: .array(elements.map(\.value)), elements: elements)
    }

    private mutating func object(from start: Int) throws(VaultError) -> JSONNode {
        var members: [JSONNode.Member] = []
        var known: Set<[UInt8]> = []
        while case .key(let text) = try next() {
            let key = text.string(in: bytes.span)
            guard known.insert(Array(key.utf8)).inserted else {
                throw VaultError(
                    .corrupt, "the key \"\(key.excerpt)\" occurs twice in one object",
                    at: place(of: text.range.lowerBound - 1),
                    remedy: "remove one of the two members")
            }
            let keyRange = text.range.lowerBound - 1..<text.range.upperBound + 1
            members.append(
                JSONNode.Member(key: key, keyRange: keyRange, node: try node(startingWith: try next())))
        }
        let object = JSONObject(lastWins: members.map { ($0.key, $0.node.value) })
        return JSONNode(range: start..<reader.position, value: .object(object), members: members)
    }
}

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

/// Where lines and columns of a text are: the position of a byte costs the same anywhere in it.
struct LineIndex: Sendable {
    /// Lines and columns count from 1, columns in characters (Unicode scalars).
    struct Position: Sendable, CustomStringConvertible {
        private var line = 1
        private var column = 1

        /// In the form of compilers, `LINE:COLUMN`.
        var description: String { "\(line):\(column)" }

        fileprivate mutating func pass(_ byte: UInt8) {
            if byte == UInt8(ascii: "\n") {
                (line, column) = (line + 1, 1)
            } else if byte & 0xC0 != 0x80 {
                // UTF-8 continuation bytes begin with the bits 10.
                column += 1
            }
        }
    }

    private static let step = 256
    /// The positions of the bytes 0, 256, 512, …
    private var landmarks: [Position] = []

    init(of bytes: [UInt8]) {
        var position = Position()
        for (index, byte) in bytes.enumerated() {
            if index % Self.step == 0 { landmarks.append(position) }
            position.pass(byte)
        }
        if bytes.count % Self.step == 0 { landmarks.append(position) }
    }

    /// - Parameter bytes: those that the index was made of; a position behind them is their end.
    func position(of index: Int, in bytes: [UInt8]) -> Position {
        let index = min(index, bytes.count)
        var position = landmarks[index / Self.step]
        for byte in bytes[index / Self.step * Self.step..<index] { position.pass(byte) }
        return position
    }
}
