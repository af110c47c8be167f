import FaultServer
import SealedPack
import Testing
import VaultFileSystem

@testable import AssetVault

/// A download with an idle owner: a process that needs the pack continues.
@Suite(.timeLimit(.minutes(2))) struct IdleDownloadTests {
    let world: World
    let one = PackID.one
    private var layout: StoreLayout { world.layout }

    init() async throws { world = try await World.withPacks() }

    /// A file whose owner never does anything more with it, with the first bytes of the pack.
    private func held(_ suffix: String, of pack: PackManifest, _ bytes: [UInt8]) throws -> OpenFile {
        try FileSystem.createFolders(layout.ephemeral, permissions: 0o700)
        let path = layout.ephemeral.appending(pack.sha256.hex + suffix)
        let file = try OpenFile(creating: path, permissions: 0o600)
        try file.write(bytes.span, at: 0)
        #expect(try file.tryLock(exclusive: true))
        return file
    }

    @Test func aPartialDownloadWithAnIdleOwner() async throws {
        let client = try world.client()
        let pack = try await client.pack(withID: one)
        let file = try held(".part", of: pack, Array(repeating: 7, count: 1000))
        _ = try await client.fetch()
        try await client.expectOne()
        // It belongs to its owner as long as he lives.
        #expect(try FileSystem.status(of: file.path)?.isSameFile(as: file.status()) == true)
        _ = consume file
        _ = try await client.fetch()
        #expect(try Folder(opening: layout.ephemeral).names().isEmpty)
    }

    /// The whole pack, before it is staged: nothing is requested again.
    @Test func aFinishedDownloadWithAnIdleOwner() async throws {
        let client = try world.client()
        let pack = try await client.pack(withID: one)
        let file = try held(".avpack", of: pack, try world.hosted(pack))
        _ = try await client.fetch()
        try await client.expectOne()
        #expect(world.server.packs.isEmpty)
        _ = consume file
    }

    /// The file name does not make it trusted.
    @Test func aDamagedDownloadWithAnIdleOwner() async throws {
        let client = try world.client()
        let pack = try await client.pack(withID: one)
        var bytes = try world.hosted(pack)
        bytes[bytes.count / 2] ^= 1
        let file = try held(".avpack", of: pack, bytes)
        _ = try await client.fetch()
        try await client.expectOne()
        let sent = world.server.packBytes
        // No piece is larger than 512 KiB.
        #expect(sent > 0 && sent < bytes.count * 2 / 3, "its sound pieces count: \(sent)")
        _ = consume file
    }

    /// A downloader notices that the app needs the pack while its host stalls.
    @Test func aDownloaderAtAStalledHost() async throws {
        world.answer { request in
            guard request.earlier > 0 else { return .file }
            return .changed {
                $0.body = Array($0.body.prefix($0.body.count / 2))
                $0.ending = [.hang]
            }
        }
        let updates = Updates()
        let downloader = try world.downloader()
        async let report = downloader.run(.install) { updates.add($0) }
        while updates.bytes < World.one.count / 4 { try await Task.sleep(for: .milliseconds(5)) }
        let before = world.server.packs.count
        world.answer { _ in .file }
        let client = try world.client()
        try await client.ensureLocalAvailability(of: one)
        try await client.expectOne()
        #expect(try await report.firstError == nil)
        #expect(world.server.packs.count == before + 1, "the downloader asked for nothing more")
    }

    /// A stalled owner that finds its download taken over gives up, also where bytes came meanwhile that fill no piece: other processes
    /// see nothing of these.
    @Test(arguments: [0, 1000]) func theFormerOwnerGivesUp(lateBytes: Int) async throws {
        let isReplaced = Flag()
        world.answer { request in
            guard request.earlier == 1 else { return .file }
            let late = ContinuousClock.now + StallDetector.limit - .seconds(1)
            return .changed { reply in
                let half = reply.body.count / 2
                let (next, rest) = (reply.body[half...].prefix(lateBytes), reply.body[(half + lateBytes)...])
                reply.body = Array(reply.body[..<half])
                reply.ending = [
                    .until { ContinuousClock.now > late || isReplaced.isSet }, .bytes(Array(next)),
                    .until { isReplaced.isSet }, .bytes(Array(rest)), .close,
                ]
            }
        }
        let (first, second) = (try world.client(), try world.client())
        let updates = first.statusUpdates(for: one)
        async let slow = first.fetch()
        while try await first.store.status(of: one).state.name != "downloading" {
            try await Task.sleep(for: .milliseconds(5))
        }
        while world.server.packs.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
        _ = try await second.fetch()
        try await second.expectOne()
        isReplaced.set()
        _ = try await slow
        try await first.expectOne()
        // Bytes that its host sends later are ignored.
        first.endStatusUpdates()
        var most: UInt64 = 0
        for await case .progress(_, _, let bytes, _) in updates { most = max(most, bytes) }
        #expect(most > 0 && most < UInt64(World.one.count))
        #expect(try Folder(opening: layout.ephemeral).names().isEmpty)
    }

    /// The same while the new owner is still downloading: the stalled transfer ends.
    @Test func theFormerOwnerEndsItsTransfer() async throws {
        let isReplaced = Flag()
        let server = world.server
        world.answer { request in
            switch request.earlier {
            case 1:
                .changed { reply in
                    let half = reply.body.count / 2
                    let next = Array(reply.body[half..<half + 64 << 10])
                    let rest = Array(reply.body[(half + 64 << 10)...])
                    reply.body = Array(reply.body[..<half])
                    reply.ending = [
                        .until { server.packs.count > 3 }, .bytes(next), .until { isReplaced.isSet },
                        .bytes(rest), .close,
                    ]
                }
            // Of the second one the third is for the index and the catalog, and this one for pieces.
            case 3: .changed { $0.pace = (32 << 10, .milliseconds(400)) }
            default: .file
            }
        }
        let (first, second) = (try world.client(), try world.client())
        async let slow = first.fetch()
        while world.server.packs.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
        _ = try await second.fetch()
        isReplaced.set()
        _ = try await slow
        try await first.expectOne()
        #expect(world.server.packs[1].bodyBytes < World.one.count, "it listens to the end")
    }
}
