import VaultBase

extension JSONObject {
    /// Changes the object at a path of members, each of which must be there.
    mutating func change(_ path: String..., by change: (inout JSONObject) throws -> Void) throws {
        try self.change(path[...], by: change)
    }

    mutating func change(
        _ path: ArraySlice<String>, by change: (inout JSONObject) throws -> Void
    ) throws {
        guard let key = path.first else { return try change(&self) }
        var member = try object(key, at: "a change")
        try member.change(path.dropFirst(), by: change)
        self[key] = .object(member)
    }

    /// Changes the only role of delegations.
    mutating func changeRole(by change: (inout JSONObject) throws -> Void) throws {
        var role = try array("roles", at: "a change")[0].asObject(at: "a change")
        try change(&role)
        self["roles"] = [.object(role)]
    }
}
