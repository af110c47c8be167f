import SealedPack
import SystemPackage
public import VaultBase
import VaultFileSystem

/// The recursive scan of a source folder.
struct SourceScan {
    /// The source, for errors.
    private let name: String
    private let filter: SourceFilter
    private let followLinks: Bool
    private var found = SourceFolder.Entries()
    /// The current folder, relative to the root, with a final slash; empty at the root.
    private var folderPath: [UInt8] = []
    private var depth = 0
    /// The folders from the root to the current one: a followed link to one of them is a cycle.
    private var ancestors: [FileStatus] = []

    static func run(
        _ root: borrowing Folder, filter: SourceFilter, followLinks: Bool, named name: String
    ) throws(VaultError) -> SourceFolder.Entries {
        var scan = SourceScan(name: name, filter: filter, followLinks: followLinks)
        try scan.visit(root)
        scan.found.sort()
        return scan.found
    }

    private init(name: String, filter: SourceFilter, followLinks: Bool) {
        self.name = name
        self.filter = filter
        self.followLinks = followLinks
    }

    /// Adds everything in `folder`. Keeps one file descriptor open for each level.
    private mutating func visit(_ folder: borrowing Folder) throws(VaultError) {
        if followLinks { ancestors.append(try folder.status()) }
        var folders: [(name: [UInt8], isLink: Bool)] = []
        var isEmpty = true
        try folder.forEachName { (name) throws(VaultError) in
            isEmpty = false
            guard !filter.excludes(folderPath, name) else { return }
            guard var status = try folder.status(of: name) else {
                throw error("vanished while it was scanned", name)
            }
            let isLink = status.kind == .link
            let isLeaf = status.kind != .folder && !(isLink && followLinks && leadsToFolder(name, in: folder))
            // Of what is left out the kind does not matter, nor the name.
            guard !isLeaf || filter.includes(folderPath, name) else { return }
            try check(name)
            if isLink { status = try target(of: name, in: folder) }
            switch status.kind {
            case .folder:
                folders.append((name, isLink))
            case .file:
                let kind = SourceFolder.Entry.Kind.file(executable: status.permissions & 0o100 != 0)
                found.append(folder: folderPath, name: name, kind: kind, size: status.size)
            case .link: throw error("is a symbolic link", name)
            case .pipe: throw error("is a FIFO", name)
            case .socket: throw error("is a socket", name)
            case .device: throw error("is a device", name)
            }
        }
        for (name, isLink) in folders { try descend(into: name, isLink: isLink, in: folder) }
        if isEmpty, !folderPath.isEmpty, filter.includes([], Array(folderPath.dropLast())) {
            found.append(folder: Array(folderPath.dropLast()), name: [], kind: .emptyFolder, size: 0)
        }
        if followLinks { ancestors.removeLast() }
    }

    private mutating func descend(
        into name: [UInt8], isLink: Bool, in folder: borrowing Folder
    ) throws(VaultError) {
        let next =
            isLink
            ? try Folder(opening: folder.path.appending(String(decoding: name, as: UTF8.self)))
            : try folder.openFolder(name)
        if followLinks {
            let status = try next.status()
            if ancestors.contains(where: { $0.isSameFile(as: status) }) {
                throw error("is a link to a folder that contains it", name)
            }
        }
        let count = folderPath.count
        folderPath.append(contentsOf: name)
        folderPath.append(UInt8(ascii: "/"))
        depth += 1
        try visit(next)
        depth -= 1
        folderPath.removeLast(folderPath.count - count)
    }

    private func leadsToFolder(_ name: [UInt8], in folder: borrowing Folder) -> Bool {
        let path = folder.path.appending(String(decoding: name, as: UTF8.self))
        return (try? FileSystem.status(of: path, followingLinks: true))?.kind == .folder
    }

    /// The target of a link, if links are followed.
    private func target(of name: [UInt8], in folder: borrowing Folder) throws(VaultError) -> FileStatus {
        guard followLinks else {
            throw error(
                "is a symbolic link", name,
                remedy: "leave it out, or pack its target"
            ).with(hint: .followingLinks)
        }
        let path = folder.path.appending(String(decoding: name, as: UTF8.self))
        guard let status = try FileSystem.status(of: path, followingLinks: true) else {
            throw error("is a broken symbolic link", name)
        }
        return status
    }

    /// Checks the rules of ``EntryPath`` for a new segment.
    private func check(_ name: [UInt8]) throws(VaultError) {
        if let rule = EntryPath.brokenRule(ofName: name.span) { throw error(rule.description, name) }
        if folderPath.count + name.count > EntryPath.maximumByteCount {
            throw error("the path is longer than 4,096 bytes", name)
        }
        if depth >= EntryPath.maximumDepth { throw error("the path is more than 64 levels deep", name) }
    }

    private func error(
        _ problem: String, _ name: [UInt8], remedy: String = "leave it out of the source"
    ) -> VaultError {
        VaultError(
            .corrupt, problem, at: "\(self.name): entry \(EntryPath.quoted((folderPath + name).span))",
            remedy: remedy)
    }
}

/// Selects the files of a source: those that match an `include` pattern (all, if there are none) and no `exclude`
/// pattern; see ``PathPattern``.
public struct SourceFilter: Sendable, Hashable {
    private let include: PathPatternIndex
    private let exclude: PathPatternIndex

    /// Throws `.usage` for an empty or unsupported pattern.
    public init(include: [String], exclude: [String]) throws(VaultError) {
        self.include = PathPatternIndex(
            try include.map { text throws(VaultError) in try PathPattern(text) })
        self.exclude = PathPatternIndex(
            try exclude.map { text throws(VaultError) in try PathPattern(text) })
    }

    public static let all = SourceFilter()

    private init() {
        include = PathPatternIndex([])
        exclude = PathPatternIndex([])
    }

    /// Whether `name` in `folder` (empty, or with a final slash) is excluded, with everything below it.
    func excludes(_ folder: [UInt8], _ name: [UInt8]) -> Bool {
        !exclude.isEmpty && exclude.hasMatch(folder + name)
    }

    /// Whether a file or empty folder that is not excluded is included.
    func includes(_ folder: [UInt8], _ name: [UInt8]) -> Bool {
        include.isEmpty || include.hasMatch(folder + name)
    }
}
