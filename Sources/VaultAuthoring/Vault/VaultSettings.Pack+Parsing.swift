import PackSources
import SealedPack
import StrictJSON
import SystemPackage
import VaultErrors

extension VaultSettings.Pack {
    /// All members but `source` may be absent.
    init(id: PackID, parsing json: LocatedJSON, _ audiences: Audiences) throws(VaultError) {
        let json = json.labelled(id.description)
        try json.requireMembers(among: [
            "source", "for", "include", "exclude", "policy", "tags", "traits", "order", "compression",
            "followLinks", "apps", "pin",
        ])
        self.id = id
        self.audiences = try audiences.names(in: json)
        source = FilePath(try json.required("source").string())
        filter = try SourceFilter(
            include: try Self.patterns("include", of: json), exclude: try Self.patterns("exclude", of: json))
        followsLinks = try json["followLinks"]?.bool() ?? false
        offer = PackOffer(
            tags: try PackOffer.tags(declaredIn: json), traits: try PackOffer.traits(declaredIn: json))
        offer.apps = try AppVersionRange(parsing: json["apps"])
        offer.order = try json["order"]?.integer() ?? 0
        pin = try Self.pin(of: json)
        offer.policy = try Self.choice("policy", of: json) ?? offer.policy
        compression = try Self.choice("compression", of: json)
    }

    static func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ key: String, of json: LocatedJSON
    ) throws(VaultError) -> Choice? {
        guard let value = try json[key] else { return nil }
        let name = try value.string()
        guard let choice = Choice(rawValue: name) else {
            throw value.error(
                .usage, "the \(key) '\(name)' is unknown",
                remedy: "use one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    private static func pin(of json: LocatedJSON) throws(VaultError) -> UInt64? {
        guard let value = try json["pin"] else { return nil }
        let number = try value.integer()
        guard number >= 1 else {
            throw value.error(
                .usage, "\(number) is no version for \"pin\"", remedy: "use a number from 1 on")
        }
        return UInt64(number)
    }

    static func patterns(_ key: String, of json: LocatedJSON) throws(VaultError) -> [String] {
        try (json[key]?.elements() ?? []).map { element throws(VaultError) in
            let pattern = try element.string()
            _ = try element.map { () throws(VaultError) in try PathPattern(pattern) }
            return pattern
        }
    }
}
