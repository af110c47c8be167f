import Foundation
public import SystemPackage

/// A folder for one test, removed with its content.
public final class TemporaryFolder: Sendable {
    public let path: FilePath

    public init() throws {
        let url = FileManager.default.temporaryDirectory.appending(component: "packs-\(UUID().uuidString)")
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

/// Incompressible bytes (xorshift64*), the same for the same seed.
public func noise(_ count: Int, seed: Int = 1) -> [UInt8] {
    var state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1
    let words = (0..<(count + 7) / 8).map { _ in
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }
    return unsafe words.withUnsafeBytes { unsafe Array($0.prefix(count)) }
}

/// Bytes like those of a level's description, which compress well.
public func prose(_ count: Int, seed: Int = 0) -> [UInt8] {
    var bytes: [UInt8] = []
    var number = seed
    while bytes.count < count {
        bytes += Array("{\"enemy\": \(number &* 7919 % 10_007), \"at\": [0.5, 1.25]},\n".utf8)
        number += 1
    }
    return Array(bytes.prefix(count))
}
