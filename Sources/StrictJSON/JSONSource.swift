import VaultBytes
public import VaultErrors

/// A handwritten JSON text with the position of each value, for errors with lines and for edits that change nothing
/// else.
public struct JSONSource: Sendable {
    public let bytes: [UInt8]
    /// The text's name in errors.
    let name: String
    let root: JSONNode
    private let lines: LineIndex

    /// - Parameter name: the file's name in errors.
    /// - Throws: ``VaultErrors/VaultError`` of category `corrupt` with the place `name:LINE:COLUMN`, for every text
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
