import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem

/// Finds what lies in a site's folder and is named by nothing in its metadata, kept metadata included: leftovers, files that
/// are hosted by mistake. They harm no client, so they are notes.
struct StrayFiles {
    /// So many are named, the rest is counted.
    private static let limit = 100

    private let root: FilePath
    /// Paths below the root, by their bytes.
    private var files: Set<[UInt8]> = []
    /// The folders on the way to the files.
    private var folders: Set<[UInt8]> = [[]]

    init(below root: FilePath, of tree: TargetTree, and earlier: EarlierListings) {
        self.root = root
        let chain = tree.chain
        for target in tree.records + earlier.listings.map(\.target) {
            add("targets/\(chain.hostedPath(of: target))")
        }
        add("metadata/\(MetadataRole.timestamp.fileName)")
        let roles = tree.delegatedRoles.map { ($0.document.role, $0.version) }
        for (role, newest) in roles + [
            (.root, chain.root.version), (.snapshot, chain.snapshot.version),
            (.targets, chain.targets.version),
        ] {
            guard chain.root.usesConsistentSnapshots || role == .root else {
                add("metadata/\(role.fileName)")
                continue
            }
            // Earlier versions stay: roots for good, the others for clients in the middle of a refresh.
            for version in max(1, newest - Self.historyLimit)...newest {
                add("metadata/\(role.hostedName(version: version))")
            }
        }
    }

    private static let historyLimit: Int64 = 10_000

    private mutating func add(_ path: String) {
        let bytes = Array(path.utf8)
        files.insert(bytes)
        for slash in bytes.indices where bytes[slash] == UInt8(ascii: "/") {
            folders.insert(Array(bytes[..<slash]))
        }
    }

    func findings() -> [AuditFinding] {
        var strays: [AuditFinding] = []
        for folder in folders.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let path = folder.isEmpty ? root : root.appending(String(decoding: folder, as: UTF8.self))
            // A folder that is not there lacks files, which is told elsewhere.
            guard let names = try? Folder(opening: path).names() else { continue }
            for name in names {
                let entry = folder.isEmpty ? name : folder + [UInt8(ascii: "/")] + name
                guard !files.contains(entry), !folders.contains(entry) else { continue }
                strays.append(
                    AuditFinding(
                        .note, "nothing in the metadata names it",
                        at: "\(path)/\(String(decoding: name, as: UTF8.self))",
                        remedy: "prune the site: it goes when no client can need it any more", hint: .pruning)
                )
            }
        }
        guard strays.count > Self.limit else { return strays }
        return strays.prefix(Self.limit) + [
            AuditFinding(
                .note,
                "\(strays.count - Self.limit) more files and folders that nothing in the metadata names",
                at: root.string,
                remedy: "prune the site: they go when no client can need them any more", hint: .pruning)
        ]
    }
}
