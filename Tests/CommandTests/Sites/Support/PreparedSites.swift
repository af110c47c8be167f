import Synchronization
import SystemPackage
import Testing
import VaultFileSystem

/// Versions of a site that are made beforehand, so that publishing one costs a moment: the folder `live` is a link to the
/// one that is published. All packs have a new version in each.
final class PreparedSites: Sendable {
    let world: World
    let count: Int
    /// The trees of each pack; that of version 1 comes first.
    let trees: [String: [Tree]]
    private let published = Mutex(0)

    var live: String { world["live"] }
    /// The version that is live.
    var version: Int { published.withLock { $0 } }
    var isAtItsEnd: Bool { version == count }

    /// - Parameter packs: how many random bytes each has.
    init(_ count: Int, packs: [String: Int]) async throws {
        world = try await World()
        self.count = count
        var trees: [String: [Tree]] = [:]
        for version in 1...count {
            for (id, size) in packs {
                // Every file says which pack and version it is of.
                for number in 0..<6 {
                    try world.write("\(id)/\(number % 2)/\(number)", "\(id) \(version) \(number)")
                }
                let seed = UInt64(version) << 8 | UInt64(id.utf8.first ?? 0)
                try world.write("\(id)/noise", Bytes.random(size, seed: seed))
                trees[id, default: []].append(try Tree(world[id]))
            }
            try await world.publish(packs: Array(packs.keys))
            try await Tool.run("cp", "-al", world.site, world["site-\(version)"])
        }
        self.trees = trees
        try publish(1)
    }

    func publish(_ version: Int) throws {
        try Folder(opening: world.path).replaceLink("live", target: FilePath("site-\(version)"))
        published.withLock { $0 = version }
    }

    func publishNext() throws { try publish(version + 1) }

    /// The version of a pack that a tree holds; nil if it is not complete.
    func version(of tree: Tree, _ id: String) -> Int? {
        trees[id]?.firstIndex { $0 == tree }.map { $0 + 1 }
    }
}
