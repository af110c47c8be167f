import FaultServer
import SealedPack
import Testing

@testable import AssetVault

/// What it costs to ask for costs over a metered network.
@Suite(.timeLimit(.minutes(5))) struct MeteredCostTests {
    let many: ManyPacks
    /// In the order of their downloads, with the bytes of their indexes and catalogs.
    let packs: [(id: PackID, tail: UInt64)]

    init() async throws {
        // Of smaller packs no index is asked for.
        many = try await ManyPacks(tags: 1, packsPerTag: 4, size: 300_000, large: 1)
        let client = try many.client(packsAtOnce: 1)
        var packs: [(PackID, UInt64)] = []
        for id in try await client.costs(of: .tagged(["t0"])).map(\.id) {
            packs.append((id, try await client.pack(withID: id).tailLength))
        }
        self.packs = packs
    }

    /// The bytes that come of each pack with an allowance that is too small for any.
    private func asked(within allowance: UInt64) async throws -> [PackID: UInt64] {
        _ = try await many.world.server.packBytesAtRest
        let before = many.sentBytes()
        let client = try many.client(packsAtOnce: 1, meteredAllowance: allowance)
        client.network = .metered
        #expect(await category { _ = try await client.fetch(.tagged(["t0"])) } == .limit)
        _ = try await many.world.server.packBytesAtRest
        let sent = many.sentBytes().map { ($0, UInt64($1 - (before[$0] ?? 0))) }
        return Dictionary(uniqueKeysWithValues: sent.filter { $0.1 > 0 })
    }

    @Test func noMoreIsAskedForThanMayCome() async throws {
        #expect(packs.count == 4 && packs.allSatisfy { $0.tail > 0 })
        for count in 0...4 {
            let first = packs.prefix(count)
            let allowance = first.reduce(0) { $0 + $1.tail }
            let expected = Dictionary(uniqueKeysWithValues: first.map { ($0.id, $0.tail) })
            #expect(try await asked(within: allowance) == expected)
            guard let last = first.last else { continue }
            // A byte less is not enough for the last one. A smaller one behind it may fit.
            let less = try await asked(within: allowance - 1)
            #expect(less[last.id] == nil && less.values.reduce(0, +) < allowance)
        }
    }
}
