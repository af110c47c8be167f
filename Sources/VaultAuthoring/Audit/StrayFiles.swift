import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultSite

/// Finds files in a site's folder that no metadata names, kept metadata included, and files that others may change. Packs and metadata
/// among them harm no client, so they are notes; a secret key is an error.
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
        if chain.root.usesConsistentSnapshots {
            newest = tree.versions
        } else {
            for name in tree.versions.keys { add("metadata/\(name)") }
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
        var search = Search()
        for folder in folders.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let path = folder.isEmpty ? root : root.appending(String(decoding: folder, as: UTF8.self))
            // Missing files are reported elsewhere.
            guard let opened = try? Folder(opening: path), let names = try? opened.names() else { continue }
            if folder.isEmpty { search.note(try? FileSystem.status(of: root), at: root.string) }
            for name in names {
                let entry = folder.isEmpty ? name : folder + [UInt8(ascii: "/")] + name
                let isKnown =
                    files.contains(entry) || folders.contains(entry) || isMetadata(name, in: folder)
                let place = "\(path)/\(String(decoding: name, as: UTF8.self))"
                let status = try? opened.status(of: name)
                // What a link of the site leads to is part of it.
                let isLink = isKnown && status?.kind == .link
                search.note(
                    isLink ? (try? FileSystem.status(of: FilePath(place), followingLinks: true)) : status,
                    at: place)
                if !isKnown { search.examine(name, in: opened, isPublicPage: folder.isEmpty) }
            }
        }
        return Finding.first(
            of: search.strays, kind: "files and folders that nothing in the metadata names", at: root.string)
            + Finding.first(
                of: search.open, kind: "files and folders that every user of this machine may change",
                at: root.string)
    }

    /// What was found on the way.
    private struct Search {
        private(set) var strays: [Finding] = []
        private(set) var open: [Finding] = []
        /// Nobody has so many by mistake.
        private var limit = 10_000
        private static let depthLimit = 64

        /// Notes an entry that everybody may change.
        mutating func note(_ status: FileStatus?, at place: String) {
            guard let status, status.kind != .link, status.permissions & 0o002 != 0 else { return }
            open.append(
                .warning(
                    "world-writable", "every user of this machine may change it", at: place,
                    remedy: "let its owner alone write it: chmod o-w"))
        }

        /// - Parameter isPublicPage: whether other files are expected there, such as a site's front page.
        mutating func examine(
            _ name: [UInt8], in folder: borrowing Folder, isPublicPage: Bool, depth: Int = 0
        ) {
            guard limit > 0 else { return }
            limit -= 1
            let place = "\(folder.path)/\(String(decoding: name, as: UTF8.self))"
            guard let kind = try? folder.status(of: name)?.kind else { return }
            if Folder.isScratch(name) {
                strays.append(.prunable("an interrupted run left it", at: place))
            } else if kind == .folder, depth < Self.depthLimit, let inner = try? folder.openFolder(name),
                let names = try? inner.names(), !names.isEmpty
            {
                for name in names {
                    examine(name, in: inner, isPublicPage: isPublicPage, depth: depth + 1)
                }
            } else if kind == .file, let file = try? folder.openFile(name) {
                strays.append(Content(of: file).finding(at: place, isPublicPage: isPublicPage))
            } else {
                strays.append(.prunable("nothing in the metadata names it", at: place))
            }
        }
    }

    /// What a file is, by its first bytes.
    private enum Content {
        case pack, metadata, secretKey, other

        init(of file: borrowing OpenFile) {
            let size = Int(clamping: (try? file.status().size) ?? 0)
            guard
                let start = try? SecretBytes(
                    capacity: min(size, 16_384),
                    filledBy: { (bytes) throws(VaultError) in try file.read(into: &bytes, at: 0) })
            else {
                self = .other
                return
            }
            self = start.withBytes { bytes in
                let head = bytes.extracting(first: 8)
                if bytes.count >= 8, PackFile.mayBegin(with: head.indices.map { head[$0] }) { return .pack }
                if bytes.contains("PRIVATE KEY-----") { return .secretKey }
                if bytes.contains("\"kty\""), bytes.contains("\"oct\"") { return .secretKey }
                let isMetadata = bytes.contains("\"signatures\"") && bytes.contains("\"_type\"")
                return isMetadata ? .metadata : .other
            }
        }

        func finding(at place: String, isPublicPage: Bool) -> Finding {
            switch self {
            case .pack, .metadata: .prunable("nothing in the metadata names it", at: place)
            case .secretKey:
                Finding(
                    .error(.corrupt), "secret-key", "it has a secret key, and the host shows it to everybody",
                    at: place, remedy: "remove it here and at the host, and replace the key")
            case .other:
                Finding(
                    isPublicPage ? .note : .warning, "foreign-file",
                    "it is no pack and no metadata: everybody reads it at the host", at: place,
                    remedy: "remove it here and at the host, unless it is meant to be public")
            }
        }
    }
}

extension Span<UInt8> {
    fileprivate func contains(_ text: String) -> Bool {
        let text = Array(text.utf8)
        guard count >= text.count else { return false }
        return (0...count - text.count).contains { start in
            text.indices.allSatisfy { self[start + $0] == text[$0] }
        }
    }
}
