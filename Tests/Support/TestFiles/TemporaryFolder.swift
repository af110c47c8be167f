import Foundation
public import SystemPackage

/// A folder for one test, removed with its content.
public final class TemporaryFolder {
    public let path: FilePath

    public init() throws {
        let url = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(
            "archive-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        path = FilePath(url.path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path.string)
    }

    /// Writes a file and makes the folders above it.
    @discardableResult
    public func write(_ name: String, _ bytes: [UInt8], permissions: Int = 0o644) throws -> FilePath {
        let file = path.appending(name)
        try makeFolder(file.removingLastComponent())
        try Data(bytes).write(to: URL(fileURLWithPath: file.string))
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.string)
        return file
    }

    @discardableResult
    public func makeFolder(_ name: String) throws -> FilePath {
        try makeFolder(path.appending(name))
    }

    public func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path.appending(name).string)))
    }

    public func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path.string).sorted()
    }

    @discardableResult
    private func makeFolder(_ folder: FilePath) throws -> FilePath {
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        return folder
    }
}

/// Deterministic incompressible bytes (xorshift64*).
public func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<count).map { _ in
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return UInt8(truncatingIfNeeded: state &* 0x2545_F491_4F6C_DD1D >> 56)
    }
}

/// Bytes like a scene description, which compress about sixfold.
public func prose(_ count: Int) -> [UInt8] {
    let words = ["node", "mesh", "light", "texture", "0.25", "-1.5", "\n"]
    let choices = noise(count / 4 + 1)
    var bytes: [UInt8] = []
    for choice in choices where bytes.count < count { bytes += Array((words[Int(choice) % 7] + " ").utf8) }
    return Array(bytes.prefix(count))
}
