package import SystemPackage
package import VaultBase
import VaultFileSystem

/// Records which files of the packs in access are opened, in the order of their first uses. The kernel reports it, so a program of any
/// kind is observed; other processes that open these files are, too.
package struct AccessRecorder: ~Copyable, Sendable {
    private var openings: FileOpenings
    private let roots: [FilePath]
    private var known: Set<String> = []
    /// The paths in their packs.
    package private(set) var paths: [String] = []
    /// Whether files may be missing that were opened.
    package var isIncomplete: Bool { openings.isIncomplete }

    /// Begins now. Throws `.limit` for more folders than the system watches.
    ///
    /// - Parameter roots: the trees of the packs, see ``ResourceAccess/roots``.
    package init(of roots: [FilePath]) throws(VaultError) {
        var openings = try FileOpenings()
        for root in roots {
            var folders = [root]
            try Folder(opening: root).forEachEntry { path, status in
                if status.kind == .folder { folders.append(root.pushing(FilePath(path))) }
            }
            for folder in folders { try openings.watch(folder) }
        }
        self.openings = openings
        self.roots = roots
    }

    /// Takes what was opened since the last call. Returns whether a file was opened for the first time.
    package mutating func update() throws(VaultError) -> Bool {
        let count = paths.count
        for file in try openings.next() {
            for root in roots {
                var path = file
                guard path.removePrefix(root) else { continue }
                if known.insert(path.string).inserted { paths.append(path.string) }
            }
        }
        return paths.count > count
    }

    /// The list of paths, one a line, as the member `"first"` of `vault.json` takes it.
    package var list: [UInt8] { Array(paths.map { "\($0)\n" }.joined().utf8) }
}
