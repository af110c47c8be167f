import SealedPack
import VaultBase
import VaultSite

/// The files of a tree that are variants of others: each device gets one variant of each file.
///
/// Files that rules with `as` map to one path are one file. So are files with the same tags and traits whose paths differ only by the values of
/// these traits, where a rule's pattern has the value: `sky@1x.png` and `sky@2x.png` by `*@1x.png` and `*@2x.png`.
struct FileVariants {
    /// The labels that many files share.
    private struct Kind: Hashable {
        let labels: ResourceLabels
        /// The rules that find variants by paths, by their places in the settings.
        let positions: [String]
    }

    private struct File {
        /// The position among the entries of the source.
        let entry: Int
        /// The position among the kinds.
        let kind: Int
        /// The path with each trait value replaced by a mark, so equal for all variants of a file.
        let key: [UInt8]
        /// The path on devices; nil if it is that of the source.
        let path: EntryPath?
    }

    private let declared: TraitDeclarations
    private var files: [File] = []
    private var kinds: [Kind] = []
    private var numbers: [Kind: Int] = [:]

    init(declaring declared: TraitDeclarations) { self.declared = declared }

    /// Takes a file that has traits, or another path on devices. Throws `.usage` where rules contradict each other.
    ///
    /// - Returns: false for others, and for files without tags.
    mutating func take(
        _ entry: Int, _ path: EntryPath, _ labels: ResourceLabels, _ rules: [AppliedRule]
    ) throws(VaultError) -> Bool {
        guard !labels.tags.isEmpty else { return false }
        var edits = VariantEdits()
        for rule in rules { try edits.add(rule.edits, of: path, at: rule.place) }
        guard !labels.traits.isEmpty || !edits.shown.isEmpty else { return false }
        var shown: EntryPath?
        if !edits.shown.isEmpty {
            let place = rules.first { !$0.edits.shown.isEmpty }?.place ?? ""
            do throws(VaultError) { shown = try EntryPath(path.utf8Bytes.edited(by: edits.shown).span) } catch
            {
                throw VaultError(
                    .usage, "'\(path)' can't be where \"as\" maps it: \(error.problem)", at: place,
                    remedy: "correct \"as\"")
            }
        }
        let kind = Kind(labels: labels, positions: rules.compactMap(\.variantPosition))
        let number = numbers[kind] ?? kinds.count
        if number == kinds.count {
            kinds.append(kind)
            numbers[kind] = number
        }
        let key = path.utf8Bytes.edited(by: edits.shown + edits.marks)
        files.append(File(entry: entry, kind: number, key: key, path: shown))
        return true
    }

    private func labels(of file: File) -> ResourceLabels { kinds[file.kind].labels }

    /// Adds the files to the packs of the devices that they serve. Throws `.usage` where a device would see two files at one path, or
    /// would choose among more values than clients take.
    func divide(_ source: borrowing SourceFolder, into packs: inout ResourcePacks) throws(VaultError) {
        packs.traitValues = values(of: kinds)
        let sorted = files.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        var deciding: Set<Int> = []
        try forEachFile(among: sorted, of: source) { variants in
            if variants.count > 1 { deciding.formUnion(variants.map(\.kind)) }
        }
        let compared = Dictionary(grouping: deciding.map { kinds[$0] }, by: \.labels.tags)
            .mapValues { values(of: $0) }
        var paths = SharedPaths()
        var (alone, joined): (Set<String>, Set<String>) = ([], [])
        try forEachFile(among: sorted, of: source) { (variants) throws(VaultError) in
            if variants.contains(where: { $0.path != nil }) {
                try paths.add(variants.map { ($0.entry, $0.path ?? source.entries[$0.entry].path) })
            }
            for file in variants {
                let kind = kinds[file.kind]
                let values = compared[kind.labels.tags] ?? [:]
                try packs.add(
                    file.entry, packLabels(of: file, among: variants, values, source), at: file.path)
                if variants.count > 1 {
                    joined.formUnion(kind.positions)
                } else if kind.labels.traits.keys.contains(where: { packs.traitValues[$0]?.count ?? 0 > 1 }) {
                    alone.formUnion(kind.positions)
                }
            }
        }
        try paths.requireFree(in: source, besides: packs)
        packs.rulesWithoutVariants = alone.subtracting(joined).sorted { $0.bytesPrecede($1) }
        packs.sortEntries(of: source)
    }

    /// Passes the variants of each file.
    ///
    /// - Parameter files: sorted by their keys.
    private func forEachFile(
        among files: [File], of source: borrowing SourceFolder,
        _ take: ([File]) throws(VaultError) -> Void
    ) throws(VaultError) {
        var rest = files[...]
        while let first = rest.first {
            let one = rest.prefix { $0.key == first.key }
            rest = rest.dropFirst(one.count)
            for variants in try divided(one, of: source) { try take(variants) }
        }
    }

    /// The values of each trait.
    private func values(of kinds: [Kind]) -> [String: Set<String>] {
        var values: [String: Set<String>] = [:]
        for kind in kinds {
            for (name, value) in kind.labels.traits {
                if let text = value.traitText { values[name, default: []].insert(text) }
            }
        }
        return values
    }

    /// Divides files with one key into sets of variants: one set where a rule maps them, else one for each set of tags and traits.
    private func divided(
        _ files: ArraySlice<File>, of source: borrowing SourceFolder
    ) throws(VaultError) -> [[File]] {
        guard files.count > 1 else { return [Array(files)] }
        let groups = Dictionary(grouping: files) { Group(labels(of: $0)) }
        if groups.count > 1, let mapped = files.first(where: { $0.path != nil }), let path = mapped.path {
            let group = Group(labels(of: mapped))
            for file in files where Group(labels(of: file)) != group {
                let hasOtherTags = labels(of: file).tags != group.tags
                throw Self.error(
                    mapped, file, path, hasOtherTags ? "other tags" : "other traits",
                    hasOtherTags ? "give both the same tags" : "give both a value for each trait of one",
                    source)
            }
        }
        return groups.values.sorted { ($0.first?.entry ?? 0) < ($1.first?.entry ?? 0) }
    }

    /// What the variants of a file have in common.
    private struct Group: Hashable {
        let tags: [String]
        let traits: [String]

        init(_ labels: ResourceLabels) {
            (tags, traits) = (labels.tags, labels.traits.keys.sorted { $0.bytesPrecede($1) })
        }
    }

    /// The labels of the pack for the devices that a variant serves.
    private func packLabels(
        of file: File, among variants: [File], _ values: [String: Set<String>],
        _ source: borrowing SourceFolder
    ) throws(VaultError) -> ResourceLabels {
        let own = labels(of: file)
        var pack = ResourceLabels(tags: own.tags)
        var left = variants
        for name in own.traits.keys.sorted(by: { declared.precedes($0, $1) }) where left.count > 1 {
            guard let value = own.traits[name], let text = value.traitText else { continue }
            let among = Set(left.compactMap { labels(of: $0).traits[name]?.traitText })
            guard among.count <= TraitCondition.valueLimit else {
                throw VaultError(
                    .usage,
                    "'\(source.entries[file.entry].path)' and its variants have \(among.count) values of '\(name)', more than \(TraitCondition.valueLimit)",
                    at: "vault.json", remedy: "use fewer")
            }
            left.removeAll { labels(of: $0).traits[name]?.traitText?.hasSameBytes(as: text) != true }
            let matching = declared.matching(of: name)
            if let condition = TraitCondition(choosing: text, among: among, by: matching) {
                pack.add(condition, of: name, value: value, among: values[name] ?? among, by: matching)
            }
        }
        if let other = left.first(where: { $0.entry != file.entry }) {
            throw Self.error(
                file, other, file.path ?? source.entries[file.entry].path, "the same traits",
                "give them other values, or map them to other paths", source)
        }
        return pack
    }

    private static func error(
        _ one: File, _ other: File, _ path: EntryPath, _ what: String, _ remedy: String,
        _ source: borrowing SourceFolder
    ) -> VaultError {
        let (one, other) = (source.entries[one.entry].path, source.entries[other.entry].path)
        return VaultError(
            .usage, "'\(one)' and '\(other)' are both '\(path)' on a device, with \(what)", at: "vault.json",
            remedy: remedy)
    }
}

/// The paths at which devices see files by `as`.
private struct SharedPaths {
    private var paths: Set<EntryPath> = []
    /// The positions of the files that are there.
    private var entries: Set<Int> = []

    /// Adds the variants of one file. Throws `.usage` if another file already has one of these paths.
    mutating func add(_ variants: [(entry: Int, path: EntryPath)]) throws(VaultError) {
        for path in Set(variants.map(\.path)) where !paths.insert(path).inserted { throw Self.error(path) }
        entries.formUnion(variants.map(\.entry))
    }

    /// Throws `.usage` where another file is at such a path.
    func requireFree(in source: borrowing SourceFolder, besides packs: ResourcePacks) throws(VaultError) {
        guard !paths.isEmpty else { return }
        for entry in packs.packs.lazy.flatMap(\.entries) where !entries.contains(entry) {
            let path = source.entries[entry].path
            if paths.contains(path) { throw Self.error(path) }
        }
    }

    private static func error(_ path: EntryPath) -> VaultError {
        VaultError(
            .usage, "two files are both '\(path)' on a device, and are not variants of each other",
            at: "vault.json",
            remedy: "give both the same tags and values for the same traits, or map them elsewhere")
    }
}
