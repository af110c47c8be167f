import Foundation
import Synchronization
import SystemPackage
import Testing
import VaultFileSystem

/// Versions of a site that are made beforehand, so that publishing one costs a moment: the folder `live` is a link to the
/// one that is published. All packs have a new version in each.
final class PreparedSites: Sendable {
    let testSite: TestSite
    let count: Int
    /// The trees of each pack; that of version 1 comes first.
    let trees: [String: [Tree]]
    private let published = Mutex(0)

    var live: String { testSite.folder["live"] }
    /// The version that is live.
    var version: Int { published.withLock { $0 } }
    var isAtItsEnd: Bool { version == count }

    /// - Parameter packs: how many random bytes each has.
    init(_ count: Int, packs: [String: Int]) async throws {
        testSite = try await TestSite()
        self.count = count
        let folder = testSite.folder
        var trees: [String: [Tree]] = [:]
        for version in 1...count {
            var arguments = ["publish", testSite.vault]
            for (id, size) in packs {
                // Every file says which pack and version it is of.
                for number in 0..<6 {
                    try folder.write("\(id)/\(number % 2)/\(number)", "\(id) \(version) \(number)")
                }
                let seed = UInt64(version) << 8 | UInt64(id.utf8.first ?? 0)
                try folder.write("\(id)/noise", Bytes.random(size, seed: seed))
                trees[id, default: []].append(try Tree(folder[id]))
                arguments += ["--pack", "\(id)=\(folder[id])"]
            }
            try await Command.run(arguments).succeeded()
            try await Tool.run("cp", "-al", testSite.site, folder["site-\(version)"])
        }
        self.trees = trees
        try publish(1)
    }

    func publish(_ version: Int) throws {
        let folder = testSite.folder.path
        try Folder(opening: folder).replaceLink("live", target: FilePath("site-\(version)"))
        published.withLock { $0 = version }
    }

    func publishNext() throws { try publish(version + 1) }

    /// The version of a pack that a tree holds; nil if it is not complete.
    func version(of tree: Tree, _ id: String) -> Int? {
        trees[id]?.firstIndex { $0 == tree }.map { $0 + 1 }
    }
}
