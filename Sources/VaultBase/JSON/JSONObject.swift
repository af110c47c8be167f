/// The members of a JSON object, sorted by the UTF-8 bytes of their keys and looked up by exact bytes.
public struct JSONObject: Sendable {
    struct Member: Sendable, Hashable {
        let key: String
        var value: JSONValue

        static func == (left: Member, right: Member) -> Bool {
            left.key.hasSameBytes(as: right.key) && left.value == right.value
        }
    }

    /// Sorted, without duplicate keys.
    private(set) var members: [Member]

    public init() {
        members = []
    }

    /// Sorts parsed members; nil if a key occurs twice, which is set as `duplicate`.
    init(unsorted: consuming [Member], duplicate: inout String?) {
        var members = unsorted
        let isSorted = members.indices.dropFirst().allSatisfy { index in
            members[index - 1].key.bytesPrecede(members[index].key)
        }
        if !isSorted {
            members.sort { $0.key.bytesPrecede($1.key) }
            let second = members.indices.dropFirst().first { index in
                members[index - 1].key.hasSameBytes(as: members[index].key)
            }
            duplicate = second.map { members[$0].key }
        }
        self.members = members
    }

    /// Of several members with one key the last counts.
    public init(lastWins elements: [(String, JSONValue)]) {
        members = []
        for (key, value) in elements {
            self[key] = value
        }
    }

    public var count: Int { members.count }
    public var isEmpty: Bool { members.isEmpty }
    public var keys: [String] { members.map(\.key) }

    /// The value of the member with exactly these key bytes; nil removes the member.
    public subscript(key: String) -> JSONValue? {
        get {
            let (index, isPresent) = index(of: key)
            return isPresent ? members[index].value : nil
        }
        set {
            let (index, isPresent) = index(of: key)
            switch (newValue, isPresent) {
            case (let value?, true): members[index].value = value
            case (let value?, false): members.insert(Member(key: key, value: value), at: index)
            case (nil, true): members.remove(at: index)
            case (nil, false): break
            }
        }
    }

    /// The index of the key, or the index where it would be inserted.
    private func index(of key: String) -> (index: Int, isPresent: Bool) {
        let index = members.indices.partitionPoint { !members[$0].key.bytesPrecede(key) }
        return (index, index < members.count && members[index].key.hasSameBytes(as: key))
    }
}

extension JSONObject: Hashable {}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// A key that occurs twice keeps its last value.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(lastWins: elements)
    }
}

extension JSONObject: Sequence {
    public struct Iterator: IteratorProtocol {
        var members: [Member].Iterator

        public mutating func next() -> (key: String, value: JSONValue)? {
            members.next().map { ($0.key, $0.value) }
        }
    }

    public func makeIterator() -> Iterator {
        Iterator(members: members.makeIterator())
    }
}

/// Required members of one kind. `place` is the object's name in errors, such as `targets.json: signed`; the error adds
/// the key. The `optional…` forms return nil for a missing member, but refuse one of another kind.
///
/// All throw ``VaultError`` of category `corrupt`.
extension JSONObject {
    public func string(_ key: String, at place: @autoclosure () -> String) throws(VaultError) -> String {
        try required(key, optionalString(key, at: place()), place)
    }

    public func integer(_ key: String, at place: @autoclosure () -> String) throws(VaultError) -> Int64 {
        try required(key, optionalInteger(key, at: place()), place)
    }

    public func bool(_ key: String, at place: @autoclosure () -> String) throws(VaultError) -> Bool {
        try required(key, optionalBool(key, at: place()), place)
    }

    public func array(_ key: String, at place: @autoclosure () -> String) throws(VaultError) -> [JSONValue] {
        try required(key, optionalArray(key, at: place()), place)
    }

    public func object(_ key: String, at place: @autoclosure () -> String) throws(VaultError) -> JSONObject {
        try required(key, optionalObject(key, at: place()), place)
    }

    public func optionalString(_ key: String, at place: @autoclosure () -> String) throws(VaultError)
        -> String?
    {
        guard let value = self[key] else { return nil }
        guard case .string(let text) = value else { throw mismatch(key, value, "a string", place) }
        return text
    }

    public func optionalInteger(_ key: String, at place: @autoclosure () -> String) throws(VaultError)
        -> Int64?
    {
        guard let value = self[key] else { return nil }
        guard case .integer(let number) = value else { throw mismatch(key, value, "an integer", place) }
        return number
    }

    public func optionalBool(_ key: String, at place: @autoclosure () -> String) throws(VaultError) -> Bool? {
        guard let value = self[key] else { return nil }
        guard case .bool(let flag) = value else { throw mismatch(key, value, "a boolean", place) }
        return flag
    }

    public func optionalArray(_ key: String, at place: @autoclosure () -> String) throws(VaultError)
        -> [JSONValue]?
    {
        guard let value = self[key] else { return nil }
        guard case .array(let elements) = value else { throw mismatch(key, value, "an array", place) }
        return elements
    }

    public func optionalObject(_ key: String, at place: @autoclosure () -> String) throws(VaultError)
        -> JSONObject?
    {
        guard let value = self[key] else { return nil }
        guard case .object(let object) = value else { throw mismatch(key, value, "an object", place) }
        return object
    }

    private func required<Value>(_ key: String, _ value: Value?, _ place: () -> String) throws(VaultError)
        -> Value
    {
        guard let value else {
            throw VaultError(
                .corrupt, "the member \"\(key.excerpt)\" is missing", at: place(),
                remedy: "get or write the file again")
        }
        return value
    }

    private func mismatch(_ key: String, _ value: JSONValue, _ expected: String, _ place: () -> String)
        -> VaultError
    {
        VaultError(
            .corrupt, "the member \"\(key.excerpt)\" is \(value.kind), not \(expected)", at: place(),
            remedy: "get or write the file again")
    }
}

extension JSONValue {
    /// The value as an object, such as a document's outermost value.
    public func asObject(at place: @autoclosure () -> String) throws(VaultError) -> JSONObject {
        guard case .object(let object) = self else {
            throw VaultError(
                .corrupt, "expected an object, found \(kind)", at: place(),
                remedy: "get or write the file again")
        }
        return object
    }

    /// The value as a string, such as an array's element.
    public func asString(at place: @autoclosure () -> String) throws(VaultError) -> String {
        guard case .string(let text) = self else {
            throw VaultError(
                .corrupt, "expected a string, found \(kind)", at: place(),
                remedy: "get or write the file again")
        }
        return text
    }
}
