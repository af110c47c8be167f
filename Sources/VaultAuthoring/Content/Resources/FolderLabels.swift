import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

/// Tags beside the files: `.assetvault.json` in a folder of a resource tree.
///
/// `{"tags": ["level1"], "traits": {"scale": 2}, "rules": [{"paths": "*.ogg", "tags": ["music"]}]}`: tags and traits apply
/// to everything in the folder, patterns begin there.
struct FolderLabels: Sendable {
    static let fileName = ".assetvault.json"
    /// The maximum length of such a file in bytes.
    static let limit = 1 << 20

    /// Relative to the tree, with a final slash; empty at its top.
    let folder: [UInt8]
    private let rules: ResourceRules

    init(
        in folder: [UInt8], parsing bytes: [UInt8], name: String, declaring declared: TraitDeclarations
    ) throws(VaultError) {
        self.folder = folder
        let json = try JSONSource(parsing: bytes, name: name).located
        try json.requireMembers(among: ["tags", "traits", "rules"])
        let tags = try PackOffer.tags(declaredIn: json)
        let traits = try declared.traits(givenBy: json)
        var rules = try (json["rules"]?.elements() ?? []).map { element throws(VaultError) in
            try ResourceRule(parsing: element, declaring: declared)
        }
        if !tags.isEmpty || !traits.isEmpty {
            rules.append(
                ResourceRule(
                    tags: tags, traits: traits, in: folder, declaring: declared, place: json.place))
        }
        self.rules = ResourceRules(rules)
    }

    /// The rules that match an entry below the folder.
    func rules(for path: EntryPath) throws(VaultError) -> [AppliedRule] {
        let rest = Array(path.utf8Bytes.dropFirst(folder.count))
        return try rules.matches(rest).map { number throws(VaultError) in
            try AppliedRule(rules.rules[number], to: rest, from: folder.count)
        }
    }
}

/// All such files of a tree, by their folders.
struct FolderLabelTable: Sendable {
    private var folders: [[UInt8]: FolderLabels] = [:]

    init(of source: borrowing SourceFolder, declaring declared: TraitDeclarations) throws(VaultError) {
        var reader = try SourceReader(of: source)
        for entry in source.entries where entry.path.name == FolderLabels.fileName {
            let file = try reader.open(entry)
            let folder = entry.path.parent.map { $0.utf8Bytes + [UInt8(ascii: "/")] } ?? []
            folders[folder] = try FolderLabels(
                in: folder, parsing: file.readAll(limit: FolderLabels.limit), name: file.path.string,
                declaring: declared)
        }
    }

    /// The rules of all folders that an entry is in, the outermost first.
    func rules(for path: EntryPath) throws(VaultError) -> [AppliedRule] {
        guard !folders.isEmpty else { return [] }
        let bytes = path.utf8Bytes
        var found: [AppliedRule] = []
        for start in [0] + bytes.indices.filter({ bytes[$0] == UInt8(ascii: "/") }).map({ $0 + 1 }) {
            found += try folders[Array(bytes[..<start])]?.rules(for: path) ?? []
        }
        return found
    }
}
