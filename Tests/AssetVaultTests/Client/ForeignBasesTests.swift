import FaultServer
import Glibc
import SystemPackage
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem

@testable import AssetVault
@testable import SealedPack

/// What another user wrote into shared storage, and can still change, beside or below a pack that rests on other files.
@Suite(.enabled(if: geteuid() == 0, "only root may give files to other users"), .timeLimit(.minutes(5)))
struct ForeignBasesTests {
    let pack: ChangedPack
    private var world: World { pack.world }
    private let one = PackID.one

    init() async throws { pack = try await ChangedPack() }

    private func giveAway(_ path: FilePath) { #expect(unsafe chown(path.string, 64_002, 64_003) == 0) }

    /// The file was verified; its owner changes it before it is moved.
    @Test func aWaitingFileThatChangesOnceItIsVerified() async throws {
        let client = try pack.client(.sealed)
        _ = try await client.fetch()
        try await pack.publish(2)
        #expect(try await world.downloader().run(.update).firstError == nil)
        try await client.refresh()
        let manifest = try await client.pack(withID: one)
        let store = StoreAccess(layout: world.layout, role: .app)
        let waiting = try #require(try store.waiting(one).open(manifest))
        giveAway(waiting.file.path)
        guard
            case .sealed(let live, let ownName) = try ReusablePacks(world.layout).liveVersion(
                of: manifest)
        else {
            Issue.record("no sealed version is live")
            return
        }
        let file = try PackFile(waiting, as: manifest)
        let found = try await file.resting(on: [live], as: ownName, having: file.writtenPieces())
        let bases = try #require(found?.bases)
        let stretches = try waiting.file.dataRanges(in: 0..<manifest.length)
        let changed = try #require(stretches.max { $0.count < $1.count })
        try flipByte(of: waiting.file.path, at: changed.lowerBound + UInt64(changed.count / 2))

        let installer = PackInstaller(store: store, space: DiskSpace(store: store), sets: PackSets())
        let listing = try store.records.record(of: one).listing
        let error = await category {
            _ = try await installer.keepSealed(
                ArrivedPack(waiting, on: bases), of: manifest, listedBy: listing)
        }
        #expect(error == .corrupt)
        try await pack.expectContent(1, client)
        #expect(try await client.store.verify().map(\.finding) == [.sound])
    }

    /// They say that all pieces are in a file that does not have them, or no longer once they were verified there.
    @Test(arguments: [false, true]) func forgedPlaces(isChangedLater: Bool) async throws {
        let downloader = try world.downloader()
        #expect(try await downloader.run(.install).firstError == nil)
        try await pack.publish(2)
        #expect(try await downloader.run(.update).firstError == nil)
        let client = try pack.client(.sealed)
        try await client.refresh()
        let second = try await client.pack(withID: one)
        let waiting = world.layout.waitingPack(second)
        let file = try PackFile(opening: waiting, as: nil)
        let pieces = PackLayout.piecesOffset..<file.footer.layout.indexOffset
        let base = waiting.removingLastComponent().appending("@zeros.avpack")
        let forged = try OpenFile(creating: base, permissions: 0o644)
        if isChangedLater {
            let bytes = try world.hosted(second)
            try forged.write(bytes.span, at: 0)
        }
        try forged.truncate(to: file.length)
        try PiecePlaces(bases: ["@zeros.avpack"], runs: [PiecePlaces.Run(range: pieces, base: 0, offset: 0)])
            .save(beside: waiting, of: file)
        for path in [base, PiecePlaces.path(beside: waiting)] { giveAway(path) }

        try await pack.publish(3)
        #expect(try await downloader.run(.update).firstError == nil)
        try forged.truncate(to: 0)
        try forged.truncate(to: file.length)
        world.answer { _ in .hangUp }
        try await client.unlock()
        try await pack.expectContent(3, client)
        #expect(try await client.store.verify().map(\.finding) == [.sound])
    }
}
