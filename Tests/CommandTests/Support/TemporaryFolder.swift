import Foundation
import SystemPackage
import VaultFileSystem

/// A folder for one test, removed with all it holds.
final class TemporaryFolder: Workplace {
    let path: FilePath

    /// - Parameter parent: Where, if not where temporary files go.
    init(in parent: String? = nil) throws {
        let parent = parent.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
        let url = parent.appending(component: "assetvault-command-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        path = FilePath(url.path(percentEncoded: false))
    }

    deinit { try? FileSystem.removeTree(path) }
}
