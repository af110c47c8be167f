import AssetVault
import FaultServer
import TestFiles
import Testing
import VaultAuthoring
import VaultFileSystem

/// Several hosts of one site, and damaged bytes.
@Suite(.timeLimit(.minutes(5))) struct MirrorTests {
    let world: World
    let one = PackID.one

    init() async throws { world = try await World.withPacks() }

    private func mirror(
        _ script: @escaping @Sendable (FaultServer.Request) -> FaultServer.Answer = { _ in .file }
    ) throws -> FaultServer {
        try FaultServer(world.place.vault.site.string, script)
    }

    private func fetch(from mirrors: [FaultServer]) async throws -> VaultClient {
        let client = try world.client { $0.mirrors = try mirrors.map { try SiteLocation($0.url) } }
        _ = try await client.fetch()
        return client
    }

    @Test func theSecondServesAPackMissingFromTheFirst() async throws {
        world.answer { _ in .status(404) }
        let second = try mirror()
        let client = try await fetch(from: [second])
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
        #expect(!second.packs.isEmpty && !second.found.contains { $0.hasPrefix("metadata/") })
    }

    /// Metadata, too; but those of two hosts are never mixed.
    @Test func theFirstIsUnreachable() async throws {
        let client = try world.client {
            $0.site = try SiteLocation("http://127.0.0.1:1/")
            $0.mirrors = [try SiteLocation(world.server.url)]
        }
        _ = try await client.fetch()
        #expect(try await client.store.status(of: one).state == .loaded)
    }

    /// One that spoils the beginning of every piece and leaves the rest to others: none of them is to blame.
    @Test func spoiledBeginnings() async throws {
        world.answer { request in
            request.earlier == 0
                ? .file
                : .changed { reply in
                    reply.body = noise(20_000, seed: 9)
                    reply.ending = [.close]
                }
        }
        let client = try await fetch(from: [mirror()])
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
    }

    /// Zeros in the place of the pack, as of a file that was made and never filled.
    @Test(arguments: [true, false]) func zeros(alone: Bool) async throws {
        world.answer { _ in .changed { $0.body = [UInt8](repeating: 0, count: $0.body.count) } }
        let second = try mirror()
        guard alone else {
            return #expect(try await fetch(from: [second]).store.status(of: one).state == .loaded)
        }
        #expect(await category { _ = try await fetch(from: []) } == .corrupt)
        #expect(world.server.packs.count < 5)
    }

    /// A wrong piece is fetched again by itself, from the other one.
    @Test func oneWrongPiece() async throws {
        world.answer { request in
            request.earlier == 0 ? .file : .changed { $0.body[$0.body.count / 2] ^= 1 }
        }
        let second = try mirror()
        let client = try await fetch(from: [second])
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
        #expect(second.packs.count == 1 && second.packBytes < 600_000, "\(second.packBytes)")
    }

    /// The only host sends a wrong piece once.
    @Test func oneWrongPieceOnce() async throws {
        world.answer { request in
            request.earlier != 1 ? .file : .changed { $0.body[$0.body.count / 2] ^= 1 }
        }
        let client = try await fetch(from: [])
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
        #expect(world.server.packs.count == 3)
    }

    @Test func aWaitingPackIsRepaired() async throws {
        _ = try await world.downloader().run(.install)
        let folder = world.layout.shared.appending("packs/levels/one")
        try flipByte(of: folder.appending(try #require(try names(in: folder).first)), at: 300_000)
        let before = try await world.server.packBytesAtRest
        let client = try await fetch(from: [])
        #expect(try await client.store.contents(of: EntryPath("noise"), in: one) == World.one)
        let again = try await world.server.packBytesAtRest - before
        #expect(again > 0 && again <= World.longestPiece, "one piece: \(again)")
    }

    @Test func aSealedPackIsRepaired() async throws {
        var configuration = try world.configuration()
        configuration.form = .sealed
        let client = try VaultClient(configuration)
        _ = try await client.fetch()
        #expect(try await client.repair() == [])
        let lease = try await client.store.held(one)
        try flipByte(of: lease.root, at: 300_000)
        #expect(
            await category { _ = try await client.store.contents(of: EntryPath("noise"), in: one) }
                == .corrupt)
        let before = try await world.server.packBytesAtRest
        #expect(try await client.repair() == [one])
        #expect(try await world.server.packBytesAtRest - before <= World.longestPiece)
        let fresh = try VaultClient(configuration)
        #expect(try await fresh.store.contents(of: EntryPath("noise"), in: one) == World.one)
        #expect(try await fresh.repair() == [])
        _ = lease
    }
}
