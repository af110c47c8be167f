import FaultServer
import Glibc
import SystemPackage
import TestFiles
import Testing
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultTransport

@testable import AssetVault
@testable import SealedPack

/// A pack that waits, and is freed while it is opened: what other processes do with its file meanwhile, and afterwards.
@Suite(.timeLimit(.minutes(5))) struct FreedWaitingPackTests {
    let pack: ChangedPack
    /// Version 1, which waits, and its file.
    let manifest: PackManifest
    let waiting: OpenFileReference
    private var world: World { pack.world }
    private let one = PackID.one
    private var store: StoreAccess { StoreAccess(layout: world.layout, role: .app) }

    init() async throws {
        pack = try await ChangedPack()
        #expect(try await pack.world.downloader().run(.install).firstError == nil)
        // The app has it, without its key.
        let client = try pack.world.client(keys: false)
        _ = try await client.fetch()
        manifest = try await client.pack(withID: .one)
        let store = StoreAccess(layout: pack.world.layout, role: .app)
        waiting = try #require(try store.waiting(.one).open(manifest))
    }

    private func freeable(as role: StoreRole = .app) throws -> FreeablePack? {
        let store = StoreAccess(layout: world.layout, role: role)
        let installer = PackInstaller(store: store, space: DiskSpace(store: store), sets: PackSets())
        try FileSystem.createFolders(world.layout.home(of: one), permissions: 0o755)
        return try installer.freeable(PackFile(waiting, as: manifest), of: manifest)
    }

    /// Frees what another process would free first.
    private func freeSome() throws {
        #expect(try OpenFile(updating: waiting.file.path).punchHole(in: 4096..<300_000))
    }

    /// The file of a version that waits, and whether it rests on others.
    private func waitingVersion(_ version: UInt64) async throws -> (file: OpenFileReference, rests: Bool) {
        let client = try pack.client(.opened)
        try await client.refresh()
        let manifest = try await client.pack(withID: one)
        let file = try #require(try store.waiting(one).open(manifest))
        return (file, try FileSystem.exists(PiecePlaces.path(beside: file.file.path)))
    }

    @Test func aFileThatIsBeingFreedIsNotMoved() async throws {
        let sealed = try #require(try freeable())
        #expect(try !OpenFile(reading: waiting.file.path).tryLock(exclusive: false))
        let error = await category { try move {} }
        #expect(error == .busy)
        sealed.file.file.unlock()
        #expect(await category { try move(freeSome) } == .busy)
        #expect(try FileSystem.exists(waiting.file.path))
    }

    /// Moves the file as it was verified, after `body`.
    private func move(_ body: () throws -> Void) throws {
        let target = world.layout.home(of: one).appending("moved")
        let move = try VerifiedMove(of: ArrivedPack(waiting), manifest, to: target, in: store)
        try body()
        try move.commit()
    }

    /// A newer version comes while pieces of the earlier one are freed: it does not rest on that.
    @Test(arguments: [true, false]) func aNewVersionDoesNotRestOnIt(isLocked: Bool) async throws {
        try await pack.publish(2)
        let sealed = isLocked ? try freeable() : nil
        if !isLocked {
            let path = waiting.file.path
            // Its pieces are asked for once it is known what the others rest on.
            world.answer { request in
                guard request.earlier > 0 else { return .file }
                _ = try? OpenFile(updating: path).punchHole(in: 4096..<300_000)
                return .file
            }
        }
        #expect(try await world.downloader().run(.update).firstError == nil)
        sealed?.file.file.unlock()
        let newer = try await waitingVersion(2)
        #expect(try !newer.rests && !newer.file.file.hasHoles)
        try await pack.client(.opened).unlock()
        try await pack.expectContent(2, pack.client(.opened))
    }

    /// What a newer version rests on is not freed.
    @Test func aBaseIsNotFreed() async throws {
        #expect(try freeable() != nil)
        try await pack.publish(2)
        #expect(try await world.downloader().run(.update).firstError == nil)
        let newer = try await waitingVersion(2)
        try #require(newer.rests)
        #expect(try freeable() == nil)
        guard geteuid() == 0 else { return }
        // Of another user it counts only where a record of this role has the pack.
        let places = PiecePlaces.path(beside: newer.file.file.path)
        #expect(unsafe chown(places.string, 64_002, 64_003) == 0)
        #expect(try freeable(as: .downloader) == nil)
        #expect(try freeable() != nil)
    }

    /// A version with holes is a base, too, as long as the pieces that are read of it are there.
    @Test func eachVersionRestsOnAllBefore() async throws {
        var files = ChangedPack.files(1)
        for version: UInt64 in 2...4 {
            files["file \(version)"] = noise(90_000, seed: Int(300 + version))
            try await world.publish(files)
            let sent = try await pack.sentByDownloader()
            #expect(sent < 500_000, "version \(version): \(sent)")
            #expect(try await waitingVersion(version).rests)
            // It takes over what the downloader brought, so that the next version rests on that.
            _ = try await world.client(keys: false).fetch()
        }
        let client = try pack.client(.opened)
        try await client.unlock()
        try await client.expect(files, in: one)
    }

    /// It is being freed by a process that just gave the tree its final name.
    @Test func aFileThatIsBeingFreedIsNotReturned() async throws {
        let lock = try OpenFile(updating: waiting.file.path)
        #expect(try lock.tryLock(exclusive: true))
        try freeSome()
        try FileSystem.createFolders(world.layout.version(manifest, as: .opened), permissions: 0o755)
        let client = try pack.client(.opened)
        #expect(await category { try await client.unlock() } == .busy)
        #expect(try waiting.file.isStill(at: waiting.file.path))
        lock.unlock()
    }

    /// Another process frees pieces once the file is verified.
    @Test func aFileThatIsFreedOnceItIsVerified() async throws {
        let path = waiting.file.path
        let isVerified = Flag()
        let keys = WatchedKeys(world.place.keys) {
            if isVerified.isSet { _ = try? OpenFile(updating: path).punchHole(in: 4096..<300_000) }
        }
        let stager = PackStager(store: store, network: NetworkGate(FileTransport(), in: store), keys: keys) {
            if case .verifying = $0 { isVerified.set() }
        }
        #expect(await category { _ = try await stager.unlock(one) } == .busy)
        #expect(try waiting.file.isStill(at: path))
    }

    /// What files beside it had is in the live tree by now.
    @Test func whatItRestedOnIsInATree() async throws {
        let client = try pack.client(.opened)
        _ = try await client.fetch()
        try await pack.publish(2)
        #expect(try await world.downloader().run(.update).firstError == nil)
        let newer = try await waitingVersion(2)
        let file = try PackFile(newer.file, as: nil)
        let pieces = PackLayout.piecesOffset..<file.footer.layout.indexOffset
        let base = newer.file.file.path.removingLastComponent().appending("@freed.avpack")
        try OpenFile(creating: base, permissions: 0o644).truncate(to: file.length)
        try PiecePlaces(bases: ["@freed.avpack"], runs: [PiecePlaces.Run(range: pieces, base: 0, offset: 0)])
            .save(beside: newer.file.file.path, of: file)
        world.answer { _ in .hangUp }
        try await client.unlock()
        try await pack.expectContent(2, client)
    }
}

/// Does something each time that a key is asked for.
private struct WatchedKeys: KeyProvider {
    let keys: any KeyProvider
    let body: @Sendable () -> Void

    init(_ keys: any KeyProvider, _ body: @escaping @Sendable () -> Void) {
        (self.keys, self.body) = (keys, body)
    }

    func keys(for id: KeyID) async throws(VaultError) -> KeyRing {
        body()
        return try await keys.keys(for: id)
    }
}
