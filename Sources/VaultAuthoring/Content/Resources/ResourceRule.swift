import SealedPack
import VaultBase
import VaultSite

/// Tags and traits for the files that match its patterns.
struct ResourceRule: Sendable {
    let patterns: [PathPattern]
    /// The folder whose folders give tags of their names, with a final slash, or empty for the top; nil for none.
    private let tagFolder: [UInt8]?
    private let tags: [String]
    let traits: JSONObject
    /// For each pattern: where devices see its files by `as`, or with marks for the values of the rule's traits.
    private let mappings: [PathMapping]
    private let mapsByAs: Bool
    /// Marks for the values in the path of the folder whose labels they are.
    private let folderMarks: [PathEdit]
    /// For errors: the rule's file, line and column, and its tree.
    let place: String
    /// The same without the tree.
    let position: String

    /// `{"paths": "levels/1/**", "tags": ["level1"], "traits": {"scale": 2}}`; `paths` may be an array. Instead of `paths` the
    /// member `"tagByFolder": "levels/*"` gives everything in `levels/1` the tag `1`, and so on. By `"as": "*.png"` devices see the
    /// files of `"paths": "*@2x.png"` at other paths.
    init(parsing json: LocatedJSON, declaring declared: TraitDeclarations) throws(VaultError) {
        try json.requireMembers(among: ["paths", "tagByFolder", "tags", "traits", "as"])
        if let folder = try json["tagByFolder"] {
            if let paths = try json["paths"] {
                throw paths.error(
                    .usage, "a rule has both \"paths\" and \"tagByFolder\"", remedy: "make two rules of it")
            }
            if let target = try json["as"] {
                throw target.error(
                    .usage, "a rule has both \"tagByFolder\" and \"as\"",
                    remedy: "make two rules of it, one with \"paths\" and \"as\"")
            }
            tagFolder = try Self.tagFolder(parsing: folder)
            patterns = [try folder.map { () throws(VaultError) in try PathPattern("/\(folder.string())/**") }]
        } else {
            tagFolder = nil
            let value = try json.required("paths")
            let texts = if case .string(let text) = value.value { [text] } else { try value.strings() }
            guard !texts.isEmpty else {
                throw value.error(.usage, "a rule without patterns matches nothing", remedy: "name its files")
            }
            patterns = try value.map { () throws(VaultError) in
                try texts.map { text throws(VaultError) in try PathPattern(text) }
            }
        }
        tags = try PackOffer.tags(declaredIn: json)
        traits = try declared.traits(givenBy: json)
        (place, position) = (json.place, json.labelled("").place)
        let target = try json["as"]
        guard !tags.isEmpty || !traits.isEmpty || tagFolder != nil || target != nil else {
            throw json.error(
                .usage, "a rule gives neither tags nor traits, nor \"as\"", remedy: "add one of them")
        }
        (mapsByAs, folderMarks) = (target != nil, [])
        let marks = declared.marks(of: traits)
        mappings = try patterns.map { pattern throws(VaultError) in
            guard let target else { return PathMapping(of: pattern, marking: marks) }
            let text = try target.string()
            return try target.map { () throws(VaultError) in try PathMapping(from: pattern, to: text) }
        }
    }

    /// Applies to everything in one folder.
    ///
    /// - Parameter folder: relative to the tree, with a final slash.
    init(
        tags: [String], traits: JSONObject, in folder: [UInt8], declaring declared: TraitDeclarations,
        place: String
    ) {
        (patterns, tagFolder, self.tags, self.traits, self.place, position) = (
            [.all], nil, tags, traits, place, place
        )
        (mappings, mapsByAs) = ([], false)
        folderMarks = PathEdit.marking(declared.marks(of: traits), in: folder)
    }

    /// What it changes in the path of a file that matches, so that variants of one file have one path.
    ///
    /// - Parameters:
    ///   - rest: the file's path from where the patterns begin.
    ///   - start: the length of what precedes it.
    func edits(of rest: [UInt8], from start: Int) -> VariantEdits {
        let edits = mappings.lazy.compactMap { $0.edits(of: rest) }.first ?? []
        let shifted = edits.map { $0.shifted(by: start) }
        return mapsByAs
            ? VariantEdits(shown: shifted, marks: []) : VariantEdits(shown: [], marks: shifted + folderMarks)
    }

    /// Whether it gives traits to files, and variants are found by paths.
    var findsVariants: Bool { !traits.isEmpty && !mapsByAs }

    /// The part before the final `*`, which matches a whole name.
    private static func tagFolder(parsing json: LocatedJSON) throws(VaultError) -> [UInt8] {
        let folder = Array(try json.string().utf8)
        let parent = folder.dropLast()
        guard folder.last == UInt8(ascii: "*"), parent.isEmpty || parent.last == UInt8(ascii: "/"),
            !parent.contains(UInt8(ascii: "*")), parent.first != UInt8(ascii: "/")
        else {
            throw json.error(
                .usage, "'\(try json.string().excerpt)' does not say which folders give tags",
                remedy: "write a folder and '/*', such as \"levels/*\", or \"*\" for the folders at the top")
        }
        return Array(parent)
    }

    /// The tags of a file that matches.
    ///
    /// - Parameter rest: its path from where the patterns begin.
    func tags(of rest: some Collection<UInt8>) throws(VaultError) -> [String] {
        guard let tagFolder else { return tags }
        let name = rest.dropFirst(tagFolder.count).prefix { $0 != UInt8(ascii: "/") }
        let tag = String(decoding: name, as: UTF8.self)
        guard PackOffer.isWord(tag) else {
            throw VaultError(
                .usage,
                "the name of the folder '\(String(decoding: tagFolder + name, as: UTF8.self).excerpt)' can't be a tag",
                at: place, remedy: "rename the folder: \(PackOffer.wordRule)")
        }
        return tags + [tag]
    }
}

/// The rules that stand in one place; their patterns begin at one folder.
struct ResourceRules: Sendable {
    let rules: [ResourceRule]
    private let index: PathPatternIndex
    /// The number of the rule of each pattern.
    private let owners: [Int]

    init(_ rules: [ResourceRule]) {
        self.rules = rules
        index = PathPatternIndex(rules.flatMap(\.patterns))
        owners = rules.enumerated().flatMap { number, rule in rule.patterns.map { _ in number } }
    }

    /// The numbers of the rules that match a path, ascending.
    func matches(_ path: [UInt8]) -> [Int] {
        var found: [Int] = []
        for pattern in index.matches(path) where found.last != owners[pattern] {
            found.append(owners[pattern])
        }
        return found
    }
}

/// The labels that a rule gives to one file.
struct AppliedRule: Sendable {
    let tags: [String]
    let traits: JSONObject
    let edits: VariantEdits
    /// See ``ResourceRule/place``.
    let place: String
    /// Where the rule stands if it finds variants by their paths.
    let variantPosition: String?

    /// - Parameters:
    ///   - rest: the file's path from where the rule's patterns begin.
    ///   - start: the length of what precedes it.
    init(_ rule: ResourceRule, to rest: [UInt8], from start: Int = 0) throws(VaultError) {
        (tags, traits, place) = (try rule.tags(of: rest), rule.traits, rule.place)
        edits = rule.edits(of: rest, from: start)
        variantPosition = rule.findsVariants ? rule.position : nil
    }

    init(tags: [String], place: String) {
        (self.tags, traits, edits, self.place, variantPosition) = (tags, [:], VariantEdits(), place, nil)
    }
}

/// The tags and traits of one file, or of a pack.
struct ResourceLabels: Hashable, Sendable {
    /// Sorted by bytes, each once.
    private(set) var tags: [String] = []
    /// Of a file its own; of a pack those by which devices get it.
    private(set) var traits = JSONObject()
    /// Of a pack: which devices get it.
    private(set) var devices: [String: TraitCondition] = [:]
    /// Of a pack: whether the traits alone say which devices get it, since all values are compared that variants with its tags have.
    private(set) var isExact = true

    init(tags: [String] = []) { self.tags = tags }

    /// Of a pack.
    ///
    /// - Parameters:
    ///   - value: the file's.
    ///   - values: all that variants with these tags have.
    mutating func add(
        _ condition: TraitCondition, of trait: String, value: JSONValue, among values: Set<String>,
        by matching: TraitMatching
    ) {
        devices[trait] = condition
        traits[trait] = value
        // Files with several greatest values may serve the same devices: the least of these names them.
        if case .number(let above, nil) = condition {
            let least = values.compactMap { Int64($0) }.filter { number in above.map { number > $0 } ?? true }
                .min()
            traits[trait] = least.map { .integer($0) } ?? value
        }
        let text = traits[trait]?.traitText ?? ""
        isExact = isExact && TraitCondition(choosing: text, among: values, by: matching) == condition
    }

    /// Throws `.usage` where a trait has another value already, as rules have no order of their own, and beyond the number of tags
    /// that a pack may have.
    mutating func add(_ rule: AppliedRule, for path: EntryPath) throws(VaultError) {
        let new = rule.tags.filter { tag in !tags.contains { $0.hasSameBytes(as: tag) } }
        guard tags.count + new.count <= PackOffer.tagLimit else {
            throw VaultError(
                .usage, "'\(path)' gets more than \(PackOffer.tagLimit) tags", at: rule.place,
                remedy: "use a tag for files that are always asked for together")
        }
        if !new.isEmpty { tags = (tags + new).sorted { $0.bytesPrecede($1) } }
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

/// What rules change in a path so that the variants of a file have one.
struct VariantEdits: Sendable {
    /// Where devices see the file.
    var shown: [PathEdit] = []
    /// Marks for the values of traits.
    var marks: [PathEdit] = []

    /// Adds what another rule changes: rules have no order of their own. Throws `.usage` where both map the same part of a path.
    mutating func add(_ other: VariantEdits, of path: EntryPath, at place: String) throws(VaultError) {
        for edit in other.shown {
            guard !shown.contains(where: { edit.collides(with: $0) }) else {
                throw VaultError(
                    .usage, "two rules map the same part of '\(path)' by \"as\"", at: place,
                    remedy: "let one rule do it")
            }
            shown.append(edit)
        }
        for edit in other.marks where !marks.contains(where: { edit.collides(with: $0) }) {
            marks.append(edit)
        }
        marks.removeAll { mark in shown.contains { mark.collides(with: $0) } }
    }
}

extension PathEdit {
    /// Marks in place of words that a path has exactly once.
    static func marking(_ words: [(text: String, mark: [UInt8])], in path: [UInt8]) -> [PathEdit] {
        words.compactMap { word in
            let found = path.ranges(ofWord: Array(word.text.utf8))
            return found.count == 1 ? found.first.map { PathEdit(range: $0, bytes: word.mark) } : nil
        }
    }
}
