/// A value of a ``JSONSource``, whose errors have its line and column.
public struct LocatedJSON: Sendable {
    /// A member of an object.
    public struct Member: Sendable {
        public let key: LocatedJSON
        public let value: LocatedJSON
    }

    private let source: JSONSource
    private let node: JSONNode
    /// The value's name in errors.
    private let subject: String
    private let label: String

    init(in source: JSONSource, _ node: JSONNode, subject: String, label: String) {
        (self.source, self.node, self.subject, self.label) = (source, node, subject, label)
    }

    public var value: JSONValue { node.value }

    /// `FILE:LINE:COLUMN`, and the label if present.
    public var place: String {
        source.place(of: node.range.lowerBound) + (label.isEmpty ? "" : ": \(label)")
    }

    /// The same value with a label for its errors and those of its members.
    public func labelled(_ label: String) -> LocatedJSON {
        LocatedJSON(in: source, node, subject: subject, label: label)
    }

    public func error(_ category: VaultError.Category, _ problem: String, remedy: String) -> VaultError {
        VaultError(category, problem, at: place, remedy: remedy)
    }

    /// Runs `make`; its errors get the place of this value.
    public func map<Result>(_ make: () throws(VaultError) -> Result) throws(VaultError) -> Result {
        do throws(VaultError) { return try make() } catch {
            throw error.with(at: place)
        }
    }

    public func string() throws(VaultError) -> String {
        guard case .string(let text) = value else { throw mismatch("a string") }
        return text
    }

    public func integer() throws(VaultError) -> Int64 {
        guard case .integer(let number) = value else { throw mismatch("an integer") }
        return number
    }

    public func bool() throws(VaultError) -> Bool {
        guard case .bool(let flag) = value else { throw mismatch("a boolean") }
        return flag
    }

    public func elements() throws(VaultError) -> [LocatedJSON] {
        guard case .array = value else { throw mismatch("an array") }
        return node.elements.map { LocatedJSON(in: source, $0, subject: "an element", label: label) }
    }

    public func strings() throws(VaultError) -> [String] {
        try elements().map { element throws(VaultError) in try element.string() }
    }

    public func object() throws(VaultError) -> JSONObject {
        guard case .object(let object) = value else { throw mismatch("an object") }
        return object
    }

    /// Sorted by the bytes of their keys.
    public func members() throws(VaultError) -> [Member] {
        _ = try object()
        return node.members.sorted { $0.key.bytesPrecede($1.key) }.map(member)
    }

    /// Nil for a missing member.
    public subscript(key: String) -> LocatedJSON? {
        get throws(VaultError) {
            _ = try object()
            return node.member(key).map { member($0).value }
        }
    }

    public func required(_ key: String) throws(VaultError) -> LocatedJSON {
        guard let value = try self[key] else {
            throw error(.corrupt, "the member \"\(key)\" is missing", remedy: "add it")
        }
        return value
    }

    /// Throws `usage` for a member of any other name.
    public func requireMembers(among known: [String]) throws(VaultError) {
        for member in try members() where !known.contains(where: { $0.hasSameBytes(as: member.name) }) {
            throw member.key.error(
                .usage, "the member \"\(member.name.excerpt)\" is unknown",
                remedy: "use one of \(known.joined(separator: ", "))"
            ).suggesting(member.name, among: known)
        }
    }

    private func member(_ member: JSONNode.Member) -> Member {
        let key = JSONNode(range: member.keyRange, value: .string(member.key))
        return Member(
            key: LocatedJSON(in: source, key, subject: "the key", label: label),
            value: LocatedJSON(
                in: source, member.node, subject: "the member \"\(member.key.excerpt)\"", label: label))
    }

    private func mismatch(_ expected: String) -> VaultError {
        error(.corrupt, "\(subject) is \(value.kind), not \(expected)", remedy: "correct it")
    }
}

extension LocatedJSON.Member {
    public var name: String {
        guard case .string(let name) = key.value else { return "" }
        return name
    }
}
