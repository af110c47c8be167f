internal import SystemPackage
public import VaultErrors

/// Opens folders below a root without following links. Entries are sorted, so most are in the same folder as the
/// previous one: the path is walked again only when the folder changes.
public struct FolderWalk: ~Copyable, Sendable {
    private let root: Folder
    public private(set) var folder: Folder
    private var segments: [String] = []

    public init(below root: consuming Folder) throws(VaultError) {
        folder = try root.reopened()
        self.root = root
    }

    /// Opens the folder at `segments`, by a step from each folder to the next one.
    public mutating func enter(
        _ segments: some Collection<String>,
        by step: (borrowing Folder, String) throws(VaultError) -> Folder = { try $0.openFolder($1) }
    ) throws(VaultError) {
        guard !segments.elementsEqual(self.segments, by: { $0.utf8.elementsEqual($1.utf8) }) else { return }
        var next = try root.reopened()
        for segment in segments { next = try step(next, segment) }
        folder = next
        self.segments = Array(segments)
    }
}

extension Folder {
    /// The number of folders inside each other that are entered: more can't be named by a path of the system.
    private static let depthLimit = 512

    /// Passes everything below this folder to `visit`, by its path from here, in the order of the names' bytes. Never goes
    /// through a link. Throws `.corrupt` for folders that are nested too deep.
    public func forEachEntry(
        below prefix: String = "", _ visit: (_ path: String, _ status: FileStatus) throws(VaultError) -> Void
    ) throws(VaultError) {
        try forEachEntry(below: prefix, depth: 0, visit)
    }

    private func forEachEntry(
        below prefix: String, depth: Int,
        _ visit: (_ path: String, _ status: FileStatus) throws(VaultError) -> Void
    ) throws(VaultError) {
        guard depth < Self.depthLimit else {
            throw VaultError(
                .corrupt, "more than \(Self.depthLimit) folders are nested", at: path.string,
                remedy: "remove them")
        }
        for bytes in try names().sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let name = String(decoding: bytes, as: UTF8.self)
            guard let status = try status(of: name) else { continue }
            try visit(prefix + name, status)
            guard status.kind == .folder else { continue }
            try openFolder(name).forEachEntry(below: "\(prefix)\(name)/", depth: depth + 1, visit)
        }
    }
}
