public import SealedPack
public import VaultBase

/// The pack that a file of the sources is in, and the rules that decide it.
public struct FileExplanation: Sendable {
    /// A rule that matches the file.
    public struct Rule: Sendable {
        /// File, line and column, and the resource tree.
        public let place: String
        public let tags: [String]
        public let traits: JSONObject
        /// Whether it counts only where no other rule gives a tag.
        public internal(set) var isDefault = false
        /// Whether it has an effect: false for a default that other rules replace.
        public internal(set) var isUsed = true
    }

    public enum Outcome: Sendable {
        case pack(PackID)
        /// A file of a resource tree without any tag.
        case untagged
        /// `"include"` and `"exclude"` leave it out.
        case excluded
    }

    /// A source that has the file.
    public struct Source: Sendable {
        /// The pack or the resource tree that declares it.
        public let id: PackID
        public let outcome: Outcome
        /// All that match, in the order of the settings, then those of folders, then the default.
        public let rules: [Rule]
    }

    public let path: EntryPath
    /// Empty where no source has the file.
    public private(set) var sources: [Source] = []

    /// Throws `.usage` for a path that no source can have, and for settings that can't be published.
    public init(of path: String, in vault: VaultFolder) throws(VaultError) {
        let path = try Self.entryPath(path)
        self.path = path
        let settings = try VaultSettings(reading: vault.settings)
        for pack in settings.packs {
            try add(pack.source, in: vault) { _ in (.pack(pack.id), []) }
        }
        for tree in settings.resources {
            try add(tree.source, in: vault) { (source) throws(VaultError) in
                let pack = try tree.packs(of: source).packs.first { pack in
                    pack.entries.contains { source.entries[$0].path == path }
                }
                return (pack.map { .pack($0.id) } ?? .untagged, try tree.rules(for: path, in: source))
            }
        }
    }

    private mutating func add(
        _ declared: DeclaredSource, in vault: VaultFolder,
        _ explain: (borrowing SourceFolder) throws(VaultError) -> (Outcome, [Rule])
    ) throws(VaultError) {
        let source = try declared.open(in: vault)
        if source.folder.has(path) {
            let (outcome, rules) = try explain(source.folder)
            sources.append(Source(id: declared.id, outcome: outcome, rules: rules))
        } else if try declared.open(in: vault, taking: .all).folder.has(path) {
            sources.append(Source(id: declared.id, outcome: .excluded, rules: []))
        }
    }
}

extension FileExplanation {
    private static func entryPath(_ text: String) throws(VaultError) -> EntryPath {
        do throws(VaultError) { return try EntryPath(text) } catch {
            throw VaultError(
                .usage, error.problem, at: "'\(text.excerpt)'",
                remedy: "write its path as it is below the source")
        }
    }
}

extension SourceFolder {
    fileprivate func has(_ path: EntryPath) -> Bool { entries.contains { $0.path == path } }
}
