import SystemPackage
import VaultContent
import VaultErrors
import VaultFileSystem

/// The walk through a source folder.
struct SourceScan {
    /// The source, for errors.
    private let name: String
    private let filter: SourceFilter
    private let followLinks: Bool
    private var found = SourceFolder.Entries()
    /// The folder being read, relative to the root, with a slash at its end; empty at the root.
    private var place: [UInt8] = []
    private var depth = 0
    /// The folders from the root to here: where a followed link leads to one of them, there is no end.
    private var ancestors: [FileStatus] = []

    static func run(
        _ root: borrowing Folder, taking filter: SourceFilter, followLinks: Bool, named name: String
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

    /// Adds everything in `folder`. One descriptor a level stays open.
    private mutating func visit(_ folder: borrowing Folder) throws(VaultError) {
        if followLinks { ancestors.append(try folder.status()) }
        var folders: [(name: [UInt8], isLink: Bool)] = []
        var isEmpty = true
        try folder.forEachName { (name) throws(VaultError) in
            isEmpty = false
            guard !filter.excludes(place, name) else { return }
            try check(name)
            guard var status = try folder.status(of: name) else {
                throw error("vanished while it was scanned", name)
            }
            let isLink = status.kind == .link
            if isLink { status = try target(of: name, in: folder) }
            switch status.kind {
            case .folder:
                folders.append((name, isLink))
            case .file:
                guard filter.includes(place, name) else { return }
                let kind = SourceFolder.Entry.Kind.file(executable: status.permissions & 0o100 != 0)
                found.append(folder: place, name: name, kind: kind, size: status.size)
            case .link: throw error("is a symbolic link", name)
            case .pipe: throw error("is a FIFO", name)
            case .socket: throw error("is a socket", name)
            case .device: throw error("is a device", name)
            }
        }
        for (name, isLink) in folders { try descend(into: name, isLink: isLink, in: folder) }
        if isEmpty, !place.isEmpty, filter.includes([], Array(place.dropLast())) {
            found.append(folder: Array(place.dropLast()), name: [], kind: .emptyFolder, size: 0)
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
                throw error("is a link to a folder that holds it", name)
            }
        }
        let count = place.count
        place.append(contentsOf: name)
        place.append(UInt8(ascii: "/"))
        depth += 1
        try visit(next)
        depth -= 1
        place.removeLast(place.count - count)
    }

    /// What a link leads to, if links are followed.
    private func target(of name: [UInt8], in folder: borrowing Folder) throws(VaultError) -> FileStatus {
        guard followLinks else {
            throw error(
                "is a symbolic link", name,
                remedy: "leave it out, or pack what it leads to"
            ).hinting(.followingLinks)
        }
        let path = folder.path.appending(String(decoding: name, as: UTF8.self))
        guard let status = try FileSystem.status(of: path, followingLinks: true) else {
            throw error("is a symbolic link that leads nowhere", name)
        }
        return status
    }

    /// The rules of ``EntryPath``, for the one segment that is new.
    private func check(_ name: [UInt8]) throws(VaultError) {
        if let rule = EntryPath.brokenRule(ofName: name.span) { throw error(rule.description, name) }
        if place.count + name.count > EntryPath.maximumByteCount {
            throw error("the path is longer than 4,096 bytes", name)
        }
        if depth >= EntryPath.maximumDepth { throw error("the path is more than 64 levels deep", name) }
    }

    private func error(
        _ problem: String, _ name: [UInt8], remedy: String = "leave it out of the source"
    ) -> VaultError {
        VaultError(
            .corrupt, problem, at: "\(self.name): entry \(EntryPath.quoted((place + name).span))",
            remedy: remedy)
    }
}
