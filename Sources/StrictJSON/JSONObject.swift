import VaultBytes

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
