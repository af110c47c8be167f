package import VaultBase

/// How a store remembers them: an object with the values of each trait, or `"all"`. Other than in a command line a value may
/// contain any character.
extension DeviceTraits {
    package var json: JSONValue {
        guard !takesAllVariants else { return .string(Self.allVariantsText) }
        return .object(
            JSONObject(lastWins: values.map { ($0.key, .array($0.value.map(JSONValue.string))) }))
    }

    /// Throws `.corrupt`.
    package init(parsing json: JSONValue, place: String) throws(VaultError) {
        if json == .string(Self.allVariantsText) {
            self = .allVariants
            return
        }
        var values: [String: [String]] = [:]
        let traits = try json.asObject(at: place)
        for name in traits.keys {
            var words: [String] = []
            for word in try traits.array(name, at: place) { words.append(try word.asString(at: place)) }
            values[name] = words
        }
        self.init(values)
    }
}
