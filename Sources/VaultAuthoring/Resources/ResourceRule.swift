import PackSources
import SealedPack
import StrictJSON
import VaultBytes
import VaultContent
import VaultErrors

/// Tags and traits for the files that match its patterns.
struct ResourceRule: Sendable {
    let paths: SourceFilter
    let tags: [String]
    let traits: JSONObject
    /// For errors: the rule's file, line and column, and its tree.
    let place: String
    /// The same without the tree.
    let position: String

    /// `{"paths": "levels/1/**", "tags": ["level1"], "traits": {"scale": 2}}`; `paths` may be an array.
    init(parsing json: LocatedJSON, declaring declared: TraitDeclarations) throws(VaultError) {
        try json.requireMembers(among: ["paths", "tags", "traits"])
        let patterns = try json.required("paths")
        let texts = if case .string(let text) = patterns.value { [text] } else { try patterns.strings() }
        guard !texts.isEmpty else {
            throw patterns.error(.usage, "a rule without patterns matches nothing", remedy: "name its files")
        }
        paths = try patterns.map { () throws(VaultError) in try SourceFilter(include: texts, exclude: []) }
        tags = try PackOffer.tags(declaredIn: json)
        traits = try declared.traits(givenBy: json)
        (place, position) = (json.place, json.labelled("").place)
        guard !tags.isEmpty || !traits.isEmpty else {
            throw json.error(
                .usage, "a rule gives neither tags nor traits", remedy: "add \"tags\" or \"traits\"")
        }
    }

    /// Applies to everything in one folder.
    init(tags: [String], traits: JSONObject, place: String) {
        (paths, self.tags, self.traits, self.place, position) = (.all, tags, traits, place, place)
    }
}

/// The tags and traits of one file.
struct ResourceLabels: Hashable, Sendable {
    /// Sorted by bytes, each once.
    private(set) var tags: [String] = []
    private(set) var traits = JSONObject()

    /// Throws `.usage` where a trait has another value already: rules have no order of their own.
    mutating func add(_ rule: ResourceRule, for path: EntryPath) throws(VaultError) {
        for tag in rule.tags where !tags.contains(where: { $0.hasSameBytes(as: tag) }) { tags.append(tag) }
        tags.sort { $0.bytesPrecede($1) }
        for (name, value) in rule.traits {
            if let other = traits[name], other != value {
                throw VaultError(
                    .usage,
                    "'\(path)' gets two values for the trait '\(name)': \(other.text) and \(value.text)",
                    at: rule.place, remedy: "let one rule give it")
            }
            traits[name] = value
        }
    }
}

extension ResourceLabels: CustomStringConvertible {
    var description: String {
        let tags = "the tags \(JSONValue.array(tags.map(JSONValue.string)).text)"
        return traits.isEmpty ? tags : "\(tags) with \(JSONValue.object(traits).text)"
    }
}

extension JSONValue {
    /// For people.
    fileprivate var text: String { String(decoding: compact().dropLast(), as: UTF8.self) }
}
