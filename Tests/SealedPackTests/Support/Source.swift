import SystemPackage
import TestFiles

/// What a test seals: files and empty folders by path.
struct Source {
    var files: [String: [UInt8]] = [:]
    var executables: Set<String> = []
    var emptyFolders: [String] = []

    var entryCount: Int { files.count + emptyFolders.count }

    /// Writes it below `name`, in the order of `paths` or in any.
    func write(to folder: TemporaryFolder, as name: String, order paths: [String]? = nil) throws -> FilePath {
        let root = try folder.makeFolder(name)
        for path in paths ?? Array(files.keys) {
            try folder.write(
                "\(name)/\(path)", files[path] ?? [], permissions: executables.contains(path) ? 0o755 : 0o644)
        }
        for path in emptyFolders { try folder.makeFolder("\(name)/\(path)") }
        return root
    }

    /// The bytes of all files, joined in the order of the paths' bytes.
    var content: [UInt8] {
        files.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.flatMap { files[$0] ?? [] }
    }
}
