package import StrictJSON
import VaultBytes
public import VaultErrors

/// What a device states of itself: for each trait its values, the preferred one first.
public struct DeviceTraits: Sendable, Hashable {
    private var values: [String: [String]]

    public init(_ values: [String: [String]] = [:]) {
        self.values = values
    }

    /// Texts such as `scale=2` and `language=de-AT,en`. Throws `.usage`.
    public init(parsing texts: [String]) throws(VaultError) {
        values = [:]
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let words = parts.last?.split(separator: ",").map(String.init) ?? []
            guard parts.count == 2, let name = parts.first.map(String.init), !name.isEmpty, !words.isEmpty,
                values.updateValue(words, forKey: name) == nil
            else {
                throw VaultError(
                    .usage, "'\(text)' states no trait, or one a second time", at: "device",
                    remedy: "use NAME=VALUE, and several values as NAME=VALUE,VALUE")
            }
        }
    }

    /// Empty where the device states nothing of it.
    public subscript(name: String) -> [String] { values[name] ?? [] }
}

extension DeviceTraits: CustomStringConvertible {
    /// As it is parsed, sorted by name.
    public var description: String {
        values.sorted { $0.key.bytesPrecede($1.key) }
            .map { "\($0.key)=\($0.value.joined(separator: ","))" }.joined(separator: " ")
    }
}

extension JSONValue {
    /// A trait's value as devices state it; nil for what can't be one.
    package var traitText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .bool(let flag): "\(flag)"
        case .array, .object, .null: nil
        }
    }
}
