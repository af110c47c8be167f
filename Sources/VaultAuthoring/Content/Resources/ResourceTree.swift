public import SealedPack
import VaultBase

/// A source tree whose files are divided into packs by their tags and traits; a member of `"resources"` in `vault.json`.
public struct ResourceTree: Sendable {
    /// The first segments of the IDs of its packs. They share one content key, so that a file which moves between them
    /// keeps its pieces.
    public var family: PackID { source.id }
    let source: DeclaredSource
    private let categories: TagPolicies
    private let traits: TraitDeclarations
    private let rules: ResourceRules
    /// For files that no rule gives a tag; nil for none.
    private let defaultRule: AppliedRule?
    /// The tags that the settings of the tree name; each should be the tag of a file.
    private let namedTags: [NamedTag]
    private let preservation: TagPreservation
    /// The versions of the app that its packs are for.
    let apps: AppVersionRange
    /// What is listed instead of its source.
    public let pin: ListingPin?

    init(family: PackID, parsing json: LocatedJSON, _ audiences: Audiences) throws(VaultError) {
        let json = json.labelled(family.description)
        try json.requireMembers(among: [
            "source", "for", "exclude", "followLinks", "compression", "traits", "rules", "defaultTags",
            "initial", "prefetch", "first", "apps", "preservation", "pin", "held",
        ])
        source = try DeclaredSource(of: family, parsing: json, audiences)
        preservation = try TagPreservation(parsing: json["preservation"])
        apps = try AppVersionRange(parsing: json["apps"])
        pin = try ListingPin(parsing: json["pin"])
        categories = try TagPolicies(parsing: json)
        namedTags = try NamedTag.all(in: json)
        let traits = try TraitDeclarations(parsing: json["traits"])
        self.traits = traits
        let rules = try (json["rules"]?.elements() ?? []).map { element throws(VaultError) in
            try ResourceRule(parsing: element, declaring: traits)
        }
        self.rules = ResourceRules(rules)
        let defaultTags = try PackOffer.tags(in: "defaultTags", of: json)
        let place = try json["defaultTags"]?.place ?? json.place
        defaultRule = defaultTags.isEmpty ? nil : AppliedRule(tags: defaultTags, place: place)
    }

    /// The packs that the files of a scanned source make: one for each distinct set of tags and of devices that files serve,
    /// sorted by ID.
    func packs(of source: borrowing SourceFolder) throws(VaultError) -> ResourcePacks {
        let folders = try FolderLabelTable(of: source, declaring: traits)
        var packs = ResourcePacks(family: family, rules: rules.rules.indices)
        var variants = FileVariants(declaring: traits)
        for (index, entry) in source.entries.enumerated() where entry.path.name != FolderLabels.fileName {
            let numbers = rules.matches(entry.path.utf8Bytes)
            packs.unusedRules.subtract(numbers)
            var labels = ResourceLabels()
            let applied = try applied(numbers, folders, to: entry.path)
            for rule in applied { try labels.add(rule, for: entry.path) }
            if try !variants.take(index, entry.path, labels, applied) { try packs.add(index, labels) }
        }
        try variants.divide(source, into: &packs)
        try requireUsedTags(packs)
        return packs
    }

    /// The labels that the rules and the default give to a file.
    ///
    /// - Parameter numbers: of the tree's own rules that match.
    private func applied(
        _ numbers: [Int], _ folders: FolderLabelTable, to path: EntryPath
    ) throws(VaultError) -> [AppliedRule] {
        var found = try numbers.map { number throws(VaultError) in
            try AppliedRule(rules.rules[number], to: path.utf8Bytes)
        }
        found += try folders.rules(for: path)
        if let defaultRule, found.allSatisfy(\.tags.isEmpty) { found.append(defaultRule) }
        return found
    }

    /// Every rule that matches a file, also a default that others replace.
    func rules(
        for path: EntryPath, in source: borrowing SourceFolder
    ) throws(VaultError) -> [FileExplanation.Rule] {
        let folders = try FolderLabelTable(of: source, declaring: traits)
        let found = try applied(rules.matches(path.utf8Bytes), folders, to: path)
        var explained = found.map { FileExplanation.Rule(place: $0.place, tags: $0.tags, traits: $0.traits) }
        guard let defaultRule else { return explained }
        let isUsed = found.last?.place == defaultRule.place
        if isUsed { explained.removeLast() }
        return explained + [
            FileExplanation.Rule(
                place: defaultRule.place, tags: defaultRule.tags, traits: [:], isDefault: true, isUsed: isUsed
            )
        ]
    }

    /// Probable mistakes in the settings of the tree.
    func findings(of packs: ResourcePacks) -> [Finding] {
        var findings = traits.unusedFallbacks(among: packs.traitValues)
        for position in packs.rulesWithoutVariants {
            let place = "\(position) of '\(family)'"
            findings.append(
                .warning(
                    "rule-without-variants",
                    "no file of the rule at \(place) is a variant of another one: every device gets them all",
                    at: place,
                    remedy:
                        "say by \"as\" at which path an app sees them, such as \"*.png\" for \"*@2x.png\""))
        }
        for number in packs.unusedRules.sorted() {
            let place = "\(rules.rules[number].position) of '\(family)'"
            findings.append(
                .warning(
                    "unused-rule", "no file matches the rule at \(place)", at: place,
                    remedy: "correct its \"paths\" or \"tagByFolder\""))
        }
        if preservation.isFull(for: packs.tags) {
            findings.append(
                .warning(
                    "equal-preservation", "all tags of '\(family)' have the preservation 100",
                    at: family.description,
                    remedy:
                        "lower the preservation of the tags to purge first: equal priorities give no order"))
        }
        return findings
    }

    /// The offer of the pack with these labels.
    func offer(of labels: ResourceLabels) -> PackOffer {
        let (policy, order) = categories.category(of: labels.tags)
        return PackOffer(
            policy: policy, tags: labels.tags, traits: labels.traits, family: family, order: order,
            devices: labels.devices, apps: apps,
            preservation: preservation.priority(of: labels.tags), isHeld: source.isHeld)
    }

    /// Throws `.usage` for a tag in the settings that no file has.
    private func requireUsedTags(_ packs: ResourcePacks) throws(VaultError) {
        let used = packs.tags
        guard let unused = namedTags.first(where: { !used.contains($0.tag) }) else { return }
        throw unused.json.error(
            .usage,
            "no file of '\(family)' has the tag '\(unused.tag.excerpt)', which is in \"\(unused.member)\"",
            remedy: used.isEmpty
                ? "give tags to files by \"rules\"" : "use one of \(used.sorted().joined(separator: ", "))"
        ).suggesting(unused.tag, among: used)
    }
}

/// The packs of a resource tree, with the files of each.
struct ResourcePacks: Sendable {
    struct Pack: Sendable {
        let id: PackID
        let labels: ResourceLabels
        /// Positions among the entries of the source, ascending by path.
        fileprivate(set) var entries: [Int] = []
    }

    private let family: PackID
    private var byLabels: [ResourceLabels: Pack] = [:]
    /// IDs are made of labels, with a part of a digest if these are ambiguous. Crafted labels could give two packs one ID.
    private var labelsByID: [PackID: ResourceLabels] = [:]
    /// Positions of files without any tag: they are in no pack.
    private(set) var untagged: [Int] = []
    /// Where devices see files, by position, where that is elsewhere.
    private(set) var paths: [Int: EntryPath] = [:]
    /// The values of each trait that files have.
    var traitValues: [String: Set<String>] = [:]
    /// Where rules stand that give traits to files of which none is a variant of another one.
    var rulesWithoutVariants: [String] = []
    /// Positions of rules whose patterns match no file.
    fileprivate(set) var unusedRules: Set<Int>

    init(family: PackID, rules: Range<Int>) {
        self.family = family
        unusedRules = Set(rules)
    }

    /// - Parameter path: where devices see it, if that is elsewhere.
    mutating func add(_ entry: Int, _ labels: ResourceLabels, at path: EntryPath? = nil) throws(VaultError) {
        guard !labels.tags.isEmpty else { return untagged.append(entry) }
        paths[entry] = path
        if byLabels[labels] == nil {
            let id = try PackID(family: family, labels)
            if let other = labelsByID.updateValue(labels, forKey: id) {
                throw VaultError(
                    .usage, "the ID '\(id)' would stand for both \(other) and \(labels)", at: "vault.json",
                    remedy: "rename a tag or a trait of one of them")
            }
            byLabels[labels] = Pack(id: id, labels: labels)
        }
        byLabels[labels]?.entries.append(entry)
    }

    /// The source as devices see it, with which the positions of the packs go. Throws `.corrupt` for paths that collide.
    func files(of source: borrowing SourceFolder) throws(VaultError) -> SourceFolder {
        try source.renamed(paths)
    }

    /// Files were added in another order than that of their paths.
    mutating func sortEntries(of source: borrowing SourceFolder) {
        for labels in byLabels.keys {
            byLabels[labels]?.entries.sort()
            guard !paths.isEmpty, let entries = byLabels[labels]?.entries,
                entries.contains(where: { paths[$0] != nil })
            else { continue }
            byLabels[labels]?.entries =
                entries.map { (entry: $0, path: paths[$0] ?? source.entries[$0].path) }
                .sorted { $0.path < $1.path }.map(\.entry)
        }
    }

    var packs: [Pack] { byLabels.values.sorted { $0.id < $1.id } }
    var tags: Set<String> { Set(byLabels.keys.flatMap(\.tags)) }
}
