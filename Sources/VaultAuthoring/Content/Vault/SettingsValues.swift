import SealedPack
import UpdateFramework
import VaultBase

extension AppVersionRange {
    /// The member `"apps"`, such as `{"from": "2.0", "before": "3.0"}`; all without it.
    init(parsing json: LocatedJSON?) throws(VaultError) {
        self.init()
        guard let json else { return }
        try json.requireMembers(among: ["from", "before"])
        func bound(_ name: String) throws(VaultError) -> AppVersion? {
            try json[name].map { value throws(VaultError) in
                let text = try value.string()
                return try value.map { () throws(VaultError) in try AppVersion(text) }
            }
        }
        (from, before) = (try bound("from"), try bound("before"))
        if let from, let before, before <= from {
            throw json.error(
                .usage, "no version of an app is from \(from) and before \(before)",
                remedy: "give \"before\" a higher one")
        }
    }
}

extension MetadataLifetime {
    /// Days a role, 1 to 3,650; roles that are absent keep their default.
    init(parsing json: LocatedJSON?) throws(VaultError) {
        self.init()
        guard let json else { return }
        let known = TopLevelRole.allCases.map(\.rawValue)
        for member in try json.members() where !known.contains(member.name) {
            throw member.key.error(
                .usage, "\"expiry\" knows no role \"\(member.name)\"",
                remedy: "use one of \(known.joined(separator: ", "))")
        }
        func days(_ key: String, _ standard: Int) throws(VaultError) -> Int {
            guard let value = try json[key] else { return standard }
            let days = try value.integer()
            guard (1...3650).contains(days) else {
                throw value.error(
                    .usage, "\(days) days are not a valid period for \(key)", remedy: "use 1 to 3650")
            }
            return Int(days)
        }
        root = try days("root", root)
        targets = try days("targets", targets)
        snapshot = try days("snapshot", snapshot)
        timestamp = try days("timestamp", timestamp)
    }
}

/// Tags and traits, as `vault.json` and the files of a resource tree declare them. They are signed as declared, so they are
/// checked first.
extension PackOffer {
    static func tags(declaredIn json: LocatedJSON) throws(VaultError) -> [String] {
        let tags = try tags(in: "tags", of: json)
        guard tags.count <= tagLimit else {
            throw json.error(
                .usage, "these are \(tags.count) tags, more than \(tagLimit)",
                remedy: "use a tag for files that are always asked for together")
        }
        return tags
    }

    /// Distinct words, in an optional member.
    static func tags(in member: String, of json: LocatedJSON) throws(VaultError) -> [String] {
        var known: Set<[UInt8]> = []
        return try (json[member]?.elements() ?? []).map { element throws(VaultError) in
            let tag = try element.string()
            try requireWord(tag, "a tag", in: member, at: element)
            guard known.insert(Array(tag.utf8)).inserted else {
                throw element.error(
                    .usage, "the member \"\(member)\" has '\(tag)' twice", remedy: "name each tag once")
            }
            return tag
        }
    }

    /// One level of names and plain values.
    static func traits(declaredIn json: LocatedJSON) throws(VaultError) -> JSONObject {
        guard let traits = try json["traits"] else { return [:] }
        try requireTraitCount(traits.members().count, "traits", at: traits)
        for trait in try traits.members() {
            try requireTraitText(trait.name, "a trait's name", in: "traits", at: trait.key)
            switch trait.value.value {
            case .string(let text):
                try requireTraitText(text, "a trait's value", in: "traits", at: trait.value)
            case .integer, .bool: continue
            case .array, .object, .null:
                throw trait.value.error(
                    .usage, "the member \"traits\" has no plain value for '\(trait.name)'",
                    remedy: "use a string, an integer, true or false")
            }
        }
        return try traits.object()
    }

    static func requireWord(
        _ text: String, _ kind: String, in member: String, at json: LocatedJSON
    ) throws(VaultError) {
        guard PackOffer.isWord(text) else {
            throw json.error(
                .usage, "'\(text)' in the member \"\(member)\" can't be \(kind)",
                remedy: PackOffer.wordRule)
        }
    }

    /// What no client takes from a manifest is not signed.
    static func requireTraitText(
        _ text: String, _ kind: String, in member: String, at json: LocatedJSON
    ) throws(VaultError) {
        guard PackOffer.isTraitText(text) else {
            throw json.error(
                .usage, "'\(text.excerpt)' in the member \"\(member)\" can't be \(kind)",
                remedy: "use 1 to 64 bytes in normalisation form C, without control characters")
        }
    }

    static func requireTraitCount(_ count: Int, _ kind: String, at json: LocatedJSON) throws(VaultError) {
        guard count <= PackOffer.traitLimit else {
            throw json.error(
                .usage, "these are \(count) \(kind), more than \(PackOffer.traitLimit)",
                remedy: "remove some")
        }
    }
}
