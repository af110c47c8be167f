package import VaultBase

extension PackOffer {
    /// Its members in a manifest.
    package var json: JSONObject {
        var json: JSONObject = [
            "policy": .string(policy.rawValue), "tags": .array(tags.map(JSONValue.string)),
            "traits": .object(traits),
        ]
        if !withheldTags.isEmpty { json[Self.withheldMember] = .array(withheldTags.map(JSONValue.string)) }
        json["family"] = family.map { .string($0.description) }
        if order != 0 { json["order"] = .integer(order) }
        let rules = matching.mapValues(\.json).merging(devices.mapValues(\.json)) { $1 }
        if !rules.isEmpty {
            json["matching"] = .object(JSONObject(lastWins: rules.map { ($0.key, .object($0.value)) }))
        }
        if preservation != Self.standardPreservation { json["preservation"] = .integer(preservation) }
        if apps != .all { json["apps"] = .object(apps.json) }
        if isHeld { json["held"] = .bool(true) }
        return json
    }

    package init(of id: PackID, parsing vault: JSONObject, place: String) throws(VaultError) {
        let name = try vault.string("policy", at: place)
        guard let policy = PackPolicy(rawValue: name) else {
            throw VaultError(
                .corrupt, "the policy '\(name)' is unknown", at: place,
                remedy: "use one of \(PackPolicy.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        let tags = try Self.tags(of: vault.array("tags", at: place), place)
        var family: PackID?
        if let name = try vault.optionalString("family", at: place) {
            family = try? PackID(name)
            guard let family, id.isMember(of: family) else {
                throw VaultError(
                    .corrupt, "the pack '\(id)' is not of the family '\(name.excerpt)'", at: place,
                    remedy: "get the manifest again")
            }
        }
        let traits = try vault.object("traits", at: place)
        try Self.requireTraits(traits, place)
        let rules = try vault.optionalObject("matching", at: place) ?? [:]
        try Self.requireTraitNames(of: rules, place)
        var matching: [String: TraitMatching] = [:]
        var devices: [String: TraitCondition] = [:]
        for (trait, value) in rules {
            let rule = try value.asObject(at: place)
            if let condition = try TraitCondition(parsing: rule, of: traits[trait], place: place) {
                devices[trait] = condition
            } else {
                matching[trait] = try TraitMatching(parsing: rule, place: place)
            }
        }
        self.init(
            policy: policy, tags: tags, traits: traits, family: family,
            order: try vault.optionalInteger("order", at: place) ?? 0, devices: devices,
            matching: matching,
            apps: try vault.optionalObject("apps", at: place).map { json throws(VaultError) in
                try AppVersionRange(parsing: json, place: place)
            } ?? .all,
            preservation: try vault.optionalInteger("preservation", at: place) ?? Self.standardPreservation,
            isHeld: try vault.optionalBool("held", at: place) ?? false)
        withheldTags = try Self.tags(of: vault.optionalArray(Self.withheldMember, at: place) ?? [], place)
    }

    /// In the records of a store only.
    private static let withheldMember = "withheldTags"

    /// Values that authoring tools refuse are refused here as well.
    private static func tags(of values: [JSONValue], _ place: String) throws(VaultError) -> [String] {
        guard values.count <= tagLimit else {
            throw VaultError(
                .corrupt, "it has \(values.count) tags, more than \(tagLimit)", at: place,
                remedy: "get the manifest again, or report it to the publisher")
        }
        var known: Set<[UInt8]> = []
        return try values.map { value throws(VaultError) in
            let tag = try value.asString(at: place)
            guard isWord(tag), known.insert(Array(tag.utf8)).inserted else {
                throw VaultError(
                    .corrupt, "'\(tag.excerpt)' can't be one of its tags", at: place,
                    remedy: "get the manifest again, or report it to the publisher")
            }
            return tag
        }
    }

    /// A client compares them with what its device states, so their number and length are bounded.
    private static func requireTraits(_ traits: JSONObject, _ place: String) throws(VaultError) {
        try requireTraitNames(of: traits, place)
        for (name, value) in traits {
            switch value {
            case .integer, .bool: continue
            case .string(let text) where isTraitText(text): continue
            case .string, .array, .object, .null:
                throw traitRefusal("the value of the trait '\(name.excerpt)' can't be one", place)
            }
        }
    }

    private static func requireTraitNames(of traits: JSONObject, _ place: String) throws(VaultError) {
        guard traits.count <= traitLimit else {
            throw traitRefusal("it has \(traits.count) traits, more than \(traitLimit)", place)
        }
        for name in traits.keys where !isTraitText(name) {
            throw traitRefusal("'\(name.excerpt)' can't be the name of a trait", place)
        }
    }

    /// Values of a trait.
    ///
    /// - Parameter word: what the list holds, in errors.
    static func traitTexts(
        _ values: [JSONValue], upTo limit: Int, _ word: String, _ place: String
    ) throws(VaultError) -> [String] {
        guard values.count <= limit else {
            throw traitRefusal("a trait has \(values.count) \(word)s, more than \(limit)", place)
        }
        return try values.map { value throws(VaultError) in
            let text = try value.asString(at: place)
            guard isTraitText(text) else {
                throw traitRefusal("the \(word) '\(text.excerpt)' can't be a trait's value", place)
            }
            return text
        }
    }

    static func traitRefusal(_ problem: String, _ place: String) -> VaultError {
        VaultError(
            .corrupt, problem, at: place, remedy: "get the manifest again, or report it to the publisher")
    }
}
