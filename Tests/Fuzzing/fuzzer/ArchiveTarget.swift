import Foundation
import SystemPackage
import VaultAuthoring
import VaultBase

/// Unpacks any bytes as an archive of up to 4 MiB.
struct ArchiveTarget: FuzzTarget {
    private static let limit: UInt64 = 4 << 20
    private let folder: URL

    init() { folder = .scratch(named: "archives") }

    func read(_ input: [UInt8]) {
        let archive = folder.appending(path: "archive")
        let tree = folder.appending(path: "tree")
        do {
            try Data(input).write(to: archive)
            try? FileManager.default.removeItem(at: tree)
            try FileManager.default.createDirectory(at: tree, withIntermediateDirectories: true)
        } catch { fatalError("the fuzzer can't write: \(error)") }
        unpack(FilePath(archive.path), into: FilePath(tree.path))
        require(
            (try? FileManager.default.contentsOfDirectory(atPath: folder.path).count) == 2,
            "nothing is written beside the folder")
    }

    private func unpack(_ archive: FilePath, into tree: FilePath) {
        guard
            let source = try? ArchiveUnpacking.unpack(
                archive, into: tree, limit: UnpackingLimit(total: Self.limit))
        else { return }
        let size = source.entries.reduce(UInt64(0)) { $0 &+ $1.size }
        require(size <= Self.limit, "the limit holds")
    }
}

extension URL {
    /// A new folder for one target, in TMPDIR: who starts the fuzzer removes it.
    static func scratch(named name: String) -> URL {
        let folder = URL(filePath: NSTemporaryDirectory()).appending(path: "\(name)-\(UUID().uuidString)")
        do { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) } catch {
            fatalError("the fuzzer can't begin: \(error)")
        }
        return folder
    }
}
