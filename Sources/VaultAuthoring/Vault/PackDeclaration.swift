import SealedPack
import StrictJSON
import SystemPackage
import VaultArchive
import VaultErrors

extension VaultSettings.Pack {
    /// All members but `source` may be absent.
    init(id: PackID, parsing json: LocatedJSON) throws(VaultError) {
        let json = json.labelled(id.description)
        try json.requireMembers(among: [
            "source", "include", "exclude", "policy", "tags", "traits", "compression", "followLinks", "pin",
            "lastVersion",
        ])
        self.id = id
        source = FilePath(try json.required("source").string())
        filter = try SourceFilter(
            include: try Self.patterns("include", of: json), exclude: try Self.patterns("exclude", of: json))
        followsLinks = try json["followLinks"]?.bool() ?? false
        offer = PackOffer(tags: try Self.tags(of: json), traits: try Self.traits(of: json))
        pin = try Self.version("pin", of: json)
        lastVersion = try Self.version("lastVersion", of: json) ?? 0
        offer.policy = try Self.choice("policy", of: json) ?? offer.policy
        compression = try Self.choice("compression", of: json)
    }

    private static func choice<Choice: CaseIterable & RawRepresentable<String>>(
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

    private static func version(_ key: String, of json: LocatedJSON) throws(VaultError) -> UInt64? {
        guard let value = try json[key] else { return nil }
        let number = try value.integer()
        guard number >= 1 else {
            throw value.error(
                .usage, "\(number) is no version for \"\(key)\"", remedy: "use a number from 1 on")
        }
        return UInt64(number)
    }

    private static func patterns(_ key: String, of json: LocatedJSON) throws(VaultError) -> [String] {
        try (json[key]?.elements() ?? []).map { element throws(VaultError) in
            let pattern = try element.string()
            _ = try element.map { () throws(VaultError) in
                try SourceFilter(include: [pattern], exclude: [])
            }
            return pattern
        }
    }

    /// Words that differ. Tags and traits are signed as declared, so they are checked first.
    private static func tags(of json: LocatedJSON) throws(VaultError) -> [String] {
        var known: Set<[UInt8]> = []
        return try (json["tags"]?.elements() ?? []).map { element throws(VaultError) in
            let tag = try element.string()
            try requireWord(tag, "a tag", in: "tags", at: element)
            guard known.insert(Array(tag.utf8)).inserted else {
                throw element.error(
                    .usage, "the member \"tags\" has '\(tag)' twice", remedy: "name each tag once")
            }
            return tag
        }
    }

    /// One level of names and plain values.
    private static func traits(of json: LocatedJSON) throws(VaultError) -> JSONObject {
        guard let traits = try json["traits"] else { return [:] }
        for trait in try traits.members() {
            try requireWord(trait.name, "a trait's name", in: "traits", at: trait.key)
            switch trait.value.value {
            case .string, .integer, .bool: continue
            case .array, .object, .null:
                throw trait.value.error(
                    .usage, "the member \"traits\" has no plain value for '\(trait.name)'",
                    remedy: "use a string, an integer, true or false")
            }
        }
        return try traits.object()
    }

    private static func requireWord(
        _ text: String, _ kind: String, in member: String, at json: LocatedJSON
    ) throws(VaultError) {
        let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard (1...256).contains(text.utf8.count), isPlain else {
            throw json.error(
                .usage, "'\(text)' in the member \"\(member)\" can't be \(kind)",
                remedy: "use 1 to 256 bytes without control characters")
        }
    }
}
