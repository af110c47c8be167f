import FaultServer
import SealedPack
import Testing

@testable import AssetVault

/// What may come over a metered network is a limit of the transfer itself, whatever the host sends.
@Suite(.timeLimit(.minutes(5))) struct MeteredAllowanceTests {
    let world: World
    let one = PackID.one
    private let allowance: UInt64 = 300_000
    /// Bytes that are read of a connection at once, before they are counted.
    private let chunk: UInt64 = 256 << 10

    init() async throws {
        world = try await World.withPacks(["levels/one": "essential", "extras": "onDemand"])
    }

    private func metered(keys: Bool = true, within allowance: UInt64? = nil) throws -> VaultConfiguration {
        var configuration = try world.configuration(keys: keys)
        configuration.network = .metered
        configuration.policy.meteredAllowance = allowance ?? self.allowance
        return configuration
    }

    private func received() async throws -> UInt64 {
        try await VaultStore(world.layout).traffic().packs[one]?.metered ?? 0
    }

    /// An update of which little must come, and the bytes of that; its index was asked for once to know them.
    private func update() async throws -> (content: [UInt8], cost: UInt64) {
        _ = try await world.client().fetch()
        var changed = World.one
        changed[450_000] ^= 1
        try await world.publish(["noise": changed])
        let costs = try await world.client().costs()
        return (changed, costs.reduce(0) { $0 + $1.cost.bytes })
    }

    /// How often the newest version was asked for.
    private var asked: Int {
        let last = world.server.packs.last?.request.path
        return world.server.packs.filter { $0.request.path == last }.count
    }

    /// The first request is for the index: what is missing is little. Then the host sends whole files instead of parts.
    @Test func aHostThatTurnsToWholeFiles() async throws {
        let (changed, cost) = try await update()
        world.answer { $0.earlier < 2 ? .file : .wholeFile }
        let client = try VaultClient(metered(within: cost))
        #expect(await category { _ = try await client.fetch() } == .limit)
        #expect(asked == 3)
        #expect(try await received() <= cost)
        // What came counts only in the call for which it came, and the earlier version stays until the update is there.
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
        world.answer { _ in .file }
        _ = try await VaultClient(metered(within: cost)).fetch()
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == changed)
    }

    /// Also where the host does not say how long its answer is.
    @Test func aHostThatSaysNoLength() async throws {
        let (_, cost) = try await update()
        let whole = try await world.hosted(world.client().pack(withID: one))
        world.answer { $0.earlier < 2 ? .file : .bytes(whole, length: nil) }
        let client = try VaultClient(metered(within: cost))
        #expect(await category { _ = try await client.fetch() } == .limit)
        #expect(asked == 3)
        #expect(try await received() <= cost + chunk)
    }

    /// A downloader asks for no index before, and has the same limit.
    @Test func aDownloader() async throws {
        let report = try await PackDownloader(metered(keys: false)).run(.install)
        #expect(report.firstError?.category == .limit, "\(report)")
        #expect(try await received() <= allowance)
        // It is not a failure of the pack, which is as urgent in the next run.
        if case .failed = try await world.client().store.status(of: one).state {
            Issue.record("it has failed")
        }
        // Where the network is not metered there is no such limit.
        var unmetered = try metered(keys: false)
        unmetered.network = .unrestricted
        #expect(try await PackDownloader(unmetered).run(.install).firstError == nil)
    }

    /// Pieces that fail verification count, too, and no other pack of the call is asked for once nothing is left.
    @Test func uselessBytes() async throws {
        try await world.declare(["extras": "essential"])
        world.answer { _ in
            .changed { reply in
                // Of whole files one piece is wrong.
                if reply.body.count > 100_000 { reply.body[100] ^= 1 }
                reply.headers["Content-Length"] = nil
            }
        }
        var configuration = try metered(keys: false)
        configuration.packsAtOnce = 1
        let report = try await PackDownloader(configuration).run(.install)
        #expect(report.firstError != nil)
        let usage = try await VaultStore(world.layout).traffic()
        let sum = usage.packs.values.reduce(0) { $0 + $1.metered }
        #expect(sum <= allowance + chunk, "\(usage.packs)")
    }

    /// Bodies that nobody reads, such as those of redirects: each leads to the next.
    @Test func bodiesOfRedirects() async throws {
        world.answer { request in
            .changed { reply in
                reply.status = 302
                reply.headers["Location"] = request.path
                reply.body = Array(repeating: 0, count: 1 << 20)
                reply.headers["Content-Length"] = "\(reply.body.count)"
            }
        }
        let report = try await PackDownloader(metered(keys: false)).run(.install)
        #expect(report.firstError?.category == .limit, "\(report)")
        #expect(world.server.packs.count <= 3, "\(world.server.packs.count)")
        #expect(try await received() > allowance)
    }
}
