import VaultBase

extension JSONValue {
    /// The value at a path of members; nil when one is missing.
    subscript(_ keys: String...) -> JSONValue? {
        var value = self
        for key in keys {
            guard let member = value.members?[key] else { return nil }
            value = member
        }
        return value
    }

    var members: JSONObject? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    var elements: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    var number: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }
}

extension JSONObject {
    /// Changes the object at a path of members, each of which must be there.
    mutating func change(_ path: String..., by change: (inout JSONObject) throws -> Void) throws {
        try self.change(path[...], by: change)
    }

    private mutating func change(
        _ path: ArraySlice<String>, by change: (inout JSONObject) throws -> Void
    ) throws {
        guard let key = path.first else { return try change(&self) }
        var member = try object(key, at: "a change")
        try member.change(path.dropFirst(), by: change)
        self[key] = .object(member)
    }

    /// Changes what the vault's part of a pack's record says, where this is the signed part of targets.
    mutating func changePack(_ id: String, by change: (inout JSONObject) throws -> Void) throws {
        try self.change("targets", "packs/\(id).avpack", "custom", "assetvault", by: change)
    }
}
