public import VaultErrors

/// Required members of one kind. `place` is the object's name in errors, such as `targets.json: signed`; the error adds
/// the key. The `optional…` forms return nil for a missing member, but refuse one of another kind.
///
/// All throw ``VaultErrors/VaultError`` of category `corrupt`.
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
