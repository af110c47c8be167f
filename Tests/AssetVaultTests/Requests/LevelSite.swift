import AssetVault
import SystemPackage
import TestFiles
import VaultAuthoring
import VaultCrypto
import VaultFileSystem

/// The versions of a site of levels and of textures that they share, each published beforehand: later ones add files, so that the
/// timestamp alone says which one a client sees.
final class LevelSite: Sendable {
    /// A pack, and what is in each of its versions.
    struct Pack: Sendable {
        let id: PackID
        let tags: Set<String>
        /// Bytes of its files together, in all versions.
        let size: UInt64
        let paths: [String]
        /// The digests of its files by its version.
        fileprivate(set) var digests: [UInt64: [String]] = [:]
        /// Whether it is purgeable.
        var isOnDemand: Bool { !tags.contains("level1") }

        func version(with digests: [String]) -> UInt64? { self.digests.first { $0.value == digests }?.key }
    }

    /// What is in a pack.
    private struct Source {
        let number: Int
        let tags: [String]
        let sizes: [Int]

        var id: String { "game/" + tags.joined(separator: ".") }
        var paths: [String] { sizes.indices.map { "\(number)/\($0 == 0 ? "map" : "deep/sound")" } }

        /// Its files as a version of the site has them; nil where they did not change.
        func files(at version: Int) -> [[UInt8]]? {
            let first = tags == [LevelSite.lastLevel] ? LevelSite.lastLevelSince : 1
            guard version == first || version > first && version % 6 == number % 6 else { return nil }
            return sizes.enumerated().map { place, size in
                noise(size, seed: version * 1000 + number * 10 + place)
            }
        }
    }

    let world: World
    let packs: [PackID: Pack]
    /// By version of the site, which counts from 1: the bytes of its timestamp, and the versions of its packs.
    private let timestamps: [[UInt8]]
    private let versions: [[PackID: UInt64]]

    /// The version of the site from which on the last level is there.
    static let lastLevelSince = 4
    static let lastLevel = "level8"
    static let levels = (1...8).map { "level\($0)" }

    /// One is large enough to be killed while it comes.
    private static let sources: [Source] = {
        var contents = (1...7).map { level in
            (tags: [levels[level - 1]], sizes: level == 5 ? [130_000, 900] : [9000 + level, 2000])
        }
        contents += [
            (["level2", "level3"], [30_000]), (["level3", "level4", "level5"], [20_000, 100]),
            (["level6", "level7"], [40_000]), ([lastLevel], [5000]),
        ]
        return contents.enumerated().map { Source(number: $0, tags: $1.tags, sizes: $1.sizes) }
    }()

    var count: Int { timestamps.count }

    /// - Parameter count: versions of the site.
    init(_ count: Int) async throws {
        let world = try await World()
        try world.declareTree(
            Self.sources.map { ("\($0.number)", $0.tags) }, initial: ["level1"],
            preservation: ["level3": 80, "level7": 20])
        var packs: [PackID: Pack] = [:]
        var timestamps: [[UInt8]] = []
        var versions: [[PackID: UInt64]] = []
        for version in 1...count {
            var changed: [String: [String]] = [:]
            for source in Self.sources {
                guard let files = source.files(at: version) else { continue }
                for (path, bytes) in zip(source.paths, files) { try world.write(bytes, toTree: path) }
                changed[source.id] = files.map { SHA256.hash($0.span).hex }
            }
            let listed = try await world.publish().packs
            for entry in listed {
                guard let digests = changed[entry.id.description],
                    let source = Self.sources.first(where: { $0.id == entry.id.description })
                else { continue }
                let size = UInt64(source.sizes.reduce(0, +))
                packs[
                    entry.id,
                    default: Pack(id: entry.id, tags: Set(source.tags), size: size, paths: source.paths)
                ].digests[entry.version] = digests
            }
            versions.append(Dictionary(listed.map { ($0.id, $0.version) }, uniquingKeysWith: { $1 }))
            let timestamp = world.place.vault.site.pushing("metadata/timestamp.json")
            timestamps.append(try DurableFile.read(timestamp, limit: 1 << 20))
        }
        (self.world, self.packs, self.timestamps, self.versions) = (world, packs, timestamps, versions)
    }

    func timestamp(of version: Int) -> [UInt8] { timestamps[version - 1] }

    /// The newest version of a pack; nil before it is listed.
    func version(of id: PackID, at version: Int) -> UInt64? { versions[version - 1][id] }

    /// The packs of some tags, in the order of their IDs.
    func packs(of tags: Set<String>) -> [Pack] {
        packs.values.filter { !$0.tags.isDisjoint(with: tags) }.sorted { $0.id < $1.id }
    }
}
