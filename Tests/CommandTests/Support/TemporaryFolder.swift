import Foundation
import StrictJSON
import SystemPackage
import VaultFileSystem

/// A folder for one test, removed with all it holds.
final class TemporaryFolder: Sendable {
    let path: FilePath

    /// - Parameter parent: Where, if not where temporary files go.
    init(in parent: String? = nil) throws {
        let parent = parent.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
        let url = parent.appending(
            component: "assetvault-command-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        path = FilePath(url.path(percentEncoded: false))
    }

    deinit { try? FileSystem.removeTree(path) }

    /// The path of something in the folder, as an argument.
    subscript(_ name: String) -> String { path.appending(name).string }

    /// Writes a file and makes the folders above it.
    @discardableResult
    func write(_ name: String, _ bytes: [UInt8], permissions: UInt16 = 0o644) throws -> String {
        let file = path.appending(name)
        try makeFolders(above: file)
        try Data(bytes).write(to: URL(filePath: file.string))
        try setPermissions(name, permissions)
        return file.string
    }

    @discardableResult
    func write(_ name: String, _ text: String, permissions: UInt16 = 0o644) throws -> String {
        try write(name, Array(text.utf8), permissions: permissions)
    }

    @discardableResult
    func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: self[name], withIntermediateDirectories: true)
        return self[name]
    }

    func setPermissions(_ name: String, _ permissions: UInt16) throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: Int(permissions)], ofItemAtPath: self[name])
    }

    func permissions(_ name: String) throws -> UInt16? {
        try FileSystem.status(of: path.appending(name))?.permissions
    }

    func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: self[name])))
    }

    /// The bytes of a file outside its holes.
    func dataCount(of name: String) throws -> Int {
        let file = try OpenFile(reading: path.appending(name))
        return try file.dataRanges(in: 0..<file.status().size).reduce(0) { $0 + $1.count }
    }

    /// The JSON object that a file holds.
    func json(_ name: String) throws -> JSONObject {
        let bytes = try bytes(name)
        return try JSONValue(parsing: bytes.span, place: name).asObject(at: name)
    }

    func exists(_ name: String) throws -> Bool { try FileSystem.exists(path.appending(name)) }

    /// Every name in the folder, or in one of its folders, hidden ones too, sorted.
    func names(in folder: String = ".") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self[folder]).sorted()
    }

    private func makeFolders(above file: FilePath) throws {
        try FileManager.default.createDirectory(
            atPath: file.removingLastComponent().string, withIntermediateDirectories: true)
    }
}
