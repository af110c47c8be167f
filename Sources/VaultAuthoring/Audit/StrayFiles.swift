import SystemPackage
import UpdateFramework
import VaultBase
import VaultFileSystem
import VaultSite

/// Finds files in a site's folder that no metadata names, kept metadata included. They harm no client, so they are notes.
struct StrayFiles {
    private let root: FilePath
    /// Paths below the root, by their bytes.
    private var files: Set<[UInt8]> = []
    /// The folders on the way to the files.
    private var folders: Set<[UInt8]> = [[]]
    /// The newest version of each role, by the name of its file. Earlier ones stay: roots for good, the others for clients in
    /// the middle of a refresh.
    private var newest: [String: Int64] = [:]

    init(below root: FilePath, of tree: TargetTree, and earlier: EarlierListings) {
        self.root = root
        let chain = tree.chain
        for target in tree.recordsOfAllChannels + earlier.listings.map(\.target) {
            add("targets/\(chain.hostedPath(of: target))")
        }
        add("metadata/\(MetadataRole.timestamp.fileName)")
        for document in [chain.snapshot.document] + tree.targetsRoles.map(\.document) {
            if chain.root.usesConsistentSnapshots {
                newest[document.role.fileName] = document.version
            } else {
                add("metadata/\(document.role.fileName)")
            }
        }
        newest[MetadataRole.root.fileName] = chain.root.version
    }

    private mutating func add(_ path: String) {
        let bytes = Array(path.utf8)
        files.insert(bytes)
        for slash in bytes.indices where bytes[slash] == UInt8(ascii: "/") {
            folders.insert(Array(bytes[..<slash]))
        }
    }

    private func isMetadata(_ name: [UInt8], in folder: [UInt8]) -> Bool {
        guard folder.elementsEqual("metadata".utf8),
            let file = MetadataFileName(hostedName: String(decoding: name, as: UTF8.self)),
            let newest = newest[file.unversionedName]
        else { return false }
        return file.version <= newest
    }

    func findings() -> [Finding] {
        var strays: [Finding] = []
        for folder in folders.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let path = folder.isEmpty ? root : root.appending(String(decoding: folder, as: UTF8.self))
            // Missing files are reported elsewhere.
            guard let names = try? Folder(opening: path).names() else { continue }
            for name in names {
                let entry = folder.isEmpty ? name : folder + [UInt8(ascii: "/")] + name
                guard !files.contains(entry), !folders.contains(entry), !isMetadata(name, in: folder) else {
                    continue
                }
                strays.append(
                    .prunable(
                        "nothing in the metadata names it",
                        at: "\(path)/\(String(decoding: name, as: UTF8.self))"))
            }
        }
        return Finding.first(
            of: strays, kind: "files and folders that nothing in the metadata names", at: root.string)
    }
}
