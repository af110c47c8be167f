import SealedPack
import StrictJSON
import SystemPackage
import VaultArchive
import VaultErrors

extension VaultSettings.Pack {
    /// All members but `source` may be absent.
    init(id: PackID, parsing json: JSONObject, place: String) throws(VaultError) {
        let known = [
            "source", "include", "exclude", "policy", "tags", "traits", "compression", "followLinks", "pin",
            "lastVersion",
        ]
        for key in json.keys where !known.contains(key) {
            throw VaultError(
                .usage, "the member \"\(key)\" is unknown", at: place,
                remedy: "use one of \(known.joined(separator: ", "))")
        }
        self.id = id
        source = FilePath(try json.string("source", at: place))
        filter = try SourceFilter(
            include: try Self.strings("include", of: json, at: place),
            exclude: try Self.strings("exclude", of: json, at: place))
        followsLinks = try json.optionalBool("followLinks", at: place) ?? false
        offer = PackOffer(
            tags: try Self.tags(of: json, at: place), traits: try Self.traits(of: json, at: place))
        pin = try Self.version("pin", of: json, at: place)
        lastVersion = try Self.version("lastVersion", of: json, at: place) ?? 0
        offer.policy = try Self.choice("policy", of: json, at: place) ?? offer.policy
        compression = try Self.choice("compression", of: json, at: place)
    }

    private static func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ key: String, of json: JSONObject, at place: String
    ) throws(VaultError) -> Choice? {
        guard let name = try json.optionalString(key, at: place) else { return nil }
        guard let choice = Choice(rawValue: name) else {
            throw VaultError(
                .usage, "the \(key) '\(name)' is unknown", at: place,
                remedy: "use one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    private static func version(_ key: String, of json: JSONObject, at place: String) throws(VaultError)
        -> UInt64?
    {
        guard let number = try json.optionalInteger(key, at: place) else { return nil }
        guard number >= 1 else {
            throw VaultError(
                .usage, "\(number) is no version for \"\(key)\"", at: place, remedy: "use a number from 1 on")
        }
        return UInt64(number)
    }

    static func strings(_ key: String, of json: JSONObject, at place: String) throws(VaultError)
        -> [String]
    {
        try (json.optionalArray(key, at: place) ?? []).map { value throws(VaultError) in
            try value.asString(at: place)
        }
    }
}
