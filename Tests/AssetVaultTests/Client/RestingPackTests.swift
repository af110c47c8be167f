import FaultServer
import SystemPackage
import Testing
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem

@testable import AssetVault
@testable import SealedPack

/// A pack that waits for its key rests on the live tree: its file need not have the pieces of that.
@Suite(.timeLimit(.minutes(5))) struct RestingPackTests {
    let pack: ChangedPack
    let app: VaultClient
    /// What version 2 costs beside version 1.
    let cost: UpdateCost
    private var world: World { pack.world }
    private let one = PackID.one

    /// Version 1 is live, opened; version 2 is hosted.
    init() async throws {
        pack = try await ChangedPack()
        app = try pack.client(.opened)
        _ = try await app.fetch()
        cost = try await pack.publishSecond(to: app, reusing: pack.hosted(app))
    }

    private func waitingFile() -> FilePath? {
        let folder = world.layout.waiting(of: one)
        return ((try? names(in: folder)) ?? []).first { $0.hasSuffix(".avpack") }.map { folder.appending($0) }
    }

    private func damageTree(_ name: String) async throws {
        try flipByte(of: try await app.store.held(one).root.appending(name), at: 100)
    }

    /// The app opens it without any host.
    @Test func onlyChangedPiecesAreDownloaded() async throws {
        #expect(UInt64(try await pack.sentByDownloader()) == cost.bytes)
        let file = try #require(waitingFile())
        #expect(allocatedBytes(below: file.string) < 150_000)
        world.answer { _ in .hangUp }
        #expect(try await world.downloader().run(.update).firstError == nil)
        #expect(try await app.store.status(of: one).state == .toBeTransferred)
        try await app.unlock()
        try await pack.expectContent(2, app)
        #expect(waitingFile() == nil)
        #expect(try names(in: world.layout.ephemeral).isEmpty)
        #expect(try await app.store.verify().map(\.finding) == [.sound])
    }

    /// An app without its key does the same, and one with another key leaves it where it waits.
    @Test func anAppWithoutItsKey() async throws {
        let keyless = try world.client(keys: false)
        let costs = try await keyless.costs()
        #expect(costs.map(\.cost) == [cost] && costs[0].written < 150_000)
        #expect(UInt64(try await pack.sent(by: keyless)) == cost.bytes)
        world.answer { _ in .hangUp }
        let stranger = try world.client { $0.keys = InMemoryKeyProvider(KeyRing()) }
        _ = try? await stranger.fetch()
        #expect(try await app.store.status(of: one).state == .toBeTransferred)
        #expect(waitingFile() != nil)
        _ = try await app.fetch()
        try await pack.expectContent(2, app)
    }

    /// What the tree turns out not to have is downloaded after all; without a host the old version stays.
    @Test func aTreeThatChangesLater() async throws {
        _ = try await pack.sentByDownloader()
        try await damageTree("file 1")
        world.answer { _ in .hangUp }
        #expect(await category { try await app.unlock() } == .corrupt)
        #expect(
            try await app.store.contents(of: EntryPath("file 4"), in: one) == ChangedPack.files(1)["file 4"])
        world.answer { _ in .file }
        let sent = try await pack.sent(by: app)
        #expect(sent > 10_000 && sent < 400_000, "\(sent)")
        try await pack.expectContent(2, app)
        #expect(try names(in: world.layout.ephemeral).isEmpty)
    }

    /// A tree that has changed does not count.
    @Test func aTreeThatChangedBefore() async throws {
        try await damageTree("file 1")
        #expect(try await pack.sentByDownloader() > 700_000)
        try await app.unlock()
        try await pack.expectContent(2, app)
    }

    /// A sealed version will need all pieces.
    @Test func anAppThatWillKeepItSealed() async throws {
        let sealed = try pack.client(.sealed)
        #expect(UInt64(try await pack.sentByDownloader()) == cost.bytes)
        let sent = try await pack.sent(by: sealed)
        #expect(sent > 600_000 && sent < 1_000_000 - Int(cost.bytes) + 50_000, "\(sent)")
        try await pack.expectContent(2, sealed)
    }
}
