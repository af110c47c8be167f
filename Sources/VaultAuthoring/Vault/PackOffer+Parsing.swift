import SealedPack
import StrictJSON
import VaultErrors

/// Tags and traits, as `vault.json` and the files of a resource tree declare them. They are signed as declared, so they are
/// checked first.
extension PackOffer {
    static func tags(declaredIn json: LocatedJSON) throws(VaultError) -> [String] {
        try tags(in: "tags", of: json)
    }

    /// Words that differ, in a member that may be absent.
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
            try requireTraitText(trait.name, "a trait's name", at: trait.key)
            switch trait.value.value {
            case .string(let text): try requireTraitText(text, "a trait's value", at: trait.value)
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
                remedy: "use 1 to 256 bytes without control characters")
        }
    }

    /// What no client takes from a manifest is not signed.
    static func requireTraitText(_ text: String, _ kind: String, at json: LocatedJSON) throws(VaultError) {
        guard PackOffer.isTraitText(text) else {
            throw json.error(
                .usage, "'\(text.excerpt)' can't be \(kind)",
                remedy: "use 1 to 64 bytes without control characters")
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
