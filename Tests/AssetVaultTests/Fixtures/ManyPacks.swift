import AssetVault
import FaultServer
import Foundation
import SealedPack
import Synchronization
import TestFiles

/// A world of many packs, several with each of the tags `t0`, `t1` and so on, and one with the tag `large`. Its line is slow, and
/// can be held up.
final class ManyPacks: Sendable {
    let world: World
    let tags: [String]
    let packsPerTag: Int
    private let line = Line()

    /// - Parameters:
    ///   - size: bytes of a pack.
    ///   - large: bytes of the large one.
    init(tags count: Int, packsPerTag: Int, size: Int, large: Int) async throws {
        world = try await World()
        tags = (0..<count).map { "t\($0)" }
        self.packsPerTag = packsPerTag
        var folders: [(folder: String, tags: [String])] = [("large", ["large"])]
        try world.write(noise(large, seed: 0), toTree: "large/file")
        for (number, tag) in tags.enumerated() {
            for part in 0..<packsPerTag {
                let seed = number * packsPerTag + part + 1
                try world.write(noise(size, seed: seed), toTree: "\(seed)/file")
                folders.append(("\(seed)", [tag, "part\(part)"]))
            }
        }
        try world.declareTree(folders)
        try await world.publish()
        let line = line
        world.answer { _ in
            line.pass()
            return .changed { $0.pace = (8 << 10, .milliseconds(4)) }
        }
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
        try world.client {
            $0.packsAtOnce = packsAtOnce
            $0.policy.meteredAllowance = meteredAllowance
        }
    }

    /// The packs that were asked for, and bytes that were sent of them.
    func sentBytes() -> [PackID: Int] {
        var found: [PackID: Int] = [:]
        for exchange in world.server.packs {
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
