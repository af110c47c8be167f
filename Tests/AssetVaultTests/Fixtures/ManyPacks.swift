import AssetVault
import FaultServer
import Foundation
import Synchronization
import SystemPackage
import VaultAuthoring
import VaultFileSystem

/// A hosted game of many packs, several with each of the tags `t0`, `t1` and so on, and one with the tag `large`. Its line is slow, and
/// can be held up.
final class ManyPacks: Sendable {
    let game: Game
    let server: FaultServer
    let tags: [String]
    let packsPerTag: Int
    private let line = Line()

    /// - Parameters:
    ///   - size: bytes of a pack.
    ///   - large: bytes of the large one.
    init(tags count: Int, packsPerTag: Int, size: Int, large: Int) async throws {
        let game = try await Game()
        let tags = (0..<count).map { "t\($0)" }
        var folders: [(folder: String, tags: [String])] = [("large", ["large"])]
        try game.write(noise(large, seed: 0), toTree: "large/file")
        for (number, tag) in tags.enumerated() {
            for part in 0..<packsPerTag {
                let seed = number * packsPerTag + part + 1
                try game.write(noise(size, seed: UInt64(seed)), toTree: "\(seed)/file")
                folders.append(("\(seed)", [tag, "part\(part)"]))
            }
        }
        try game.declareTree(folders)
        try await game.publishTree()
        let line = line
        server = try FaultServer(game.place.vault.site.string) { request in
            guard request.isForPack else { return .file }
            line.pass()
            return .changed { $0.pace = (8 << 10, .milliseconds(4)) }
        }
        (self.game, self.tags, self.packsPerTag) = (game, tags, packsPerTag)
    }

    /// Whether nobody is answered for packs; what is being sent comes to its end.
    var isHeldUp: Bool {
        get { line.isHeldUp.withLock { $0 } }
        set { line.isHeldUp.withLock { $0 = newValue } }
    }

    private final class Line: Sendable {
        let isHeldUp = Mutex(false)

        /// For a thread of the server.
        func pass() {
            while isHeldUp.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.002) }
        }
    }

    func client(packsAtOnce: Int, meteredAllowance: UInt64? = nil) throws -> VaultClient {
        var configuration = VaultConfiguration(
            site: try SiteLocation(server.url), store: game.place.layout,
            trustedRoot: try DurableFile.read(game.place.vault.trustedRoot, limit: 1 << 20),
            keys: game.place.keys)
        configuration.packsAtOnce = packsAtOnce
        configuration.policy.meteredAllowance = meteredAllowance
        configuration.retries.firstBackoff = .milliseconds(10)
        return try VaultClient(configuration)
    }

    /// The packs that were asked for, and bytes that were sent of them.
    func sentBytes() -> [PackID: Int] {
        var found: [PackID: Int] = [:]
        for exchange in server.packs {
            // `targets/packs/game/DIGEST.t1.part2.avpack`
            let name = exchange.request.path.split(separator: "/").last?.split(separator: ".") ?? []
            guard let id = try? PackID("game/" + name.dropFirst().dropLast().joined(separator: ".")) else {
                continue
            }
            found[id, default: 0] += exchange.bodyBytes
        }
        return found
    }
}
