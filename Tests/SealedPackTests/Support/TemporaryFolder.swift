import Foundation
import VaultAuthoring
import SystemPackage
import SealedPack
import VaultFileSystem

/// A folder for one test, removed with its content.
final class TemporaryFolder: Sendable {
    let path: FilePath

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(component: "pack-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        path = FilePath(url.path)
    }

    deinit { try? FileManager.default.removeItem(atPath: path.string) }

    /// Writes a file and makes the folders above it.
    @discardableResult
    func write(_ name: String, _ bytes: [UInt8], permissions: Int = 0o644) throws -> FilePath {
        let file = path.appending(name)
        try makeFolder(file.removingLastComponent())
        try Data(bytes).write(to: URL(fileURLWithPath: file.string))
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.string)
        return file
    }

    @discardableResult
    func makeFolder(_ name: String) throws -> FilePath { try makeFolder(path.appending(name)) }

    func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path.appending(name).string)))
    }

    @discardableResult
    private func makeFolder(_ folder: FilePath) throws -> FilePath {
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        return folder
    }
}

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
