import StrictJSON

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

extension TemporaryFolder {
    func json(_ name: String) throws -> JSONValue {
        let bytes = try bytes(name)
        return try JSONValue(parsing: bytes.span, place: name)
    }
}
