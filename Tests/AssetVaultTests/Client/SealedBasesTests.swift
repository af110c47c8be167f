import FaultServer
import Foundation
import Glibc
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem

@testable import AssetVault
@testable import SealedPack

/// A version that stays sealed rests on the version before: its file has only the pieces that are new.
@Suite(.timeLimit(.minutes(5))) struct SealedBasesTests {
    let pack: ChangedPack
    let client: VaultClient
    private var world: World { pack.world }
    private let one = PackID.one

    /// Version 1 is live, sealed.
    init() async throws {
        pack = try await ChangedPack()
        client = try pack.client(.sealed)
        _ = try await client.fetch()
    }

    private var home: FilePath { world.layout.home(of: one) }

    private func live() throws -> FilePath {
        home.appending(try #require(try Folder(opening: home).readLink("current")?.string))
    }

    private func files(_ suffix: String, in folder: FilePath? = nil) throws -> [String] {
        try names(in: folder ?? home).filter { $0.hasPrefix("@") && $0.hasSuffix(suffix) }
    }

    private func expectSound() async throws {
        #expect(try await client.store.verify().map(\.finding) == [.sound])
    }

    /// Nothing of the old version is copied, and a reader of it goes on.
    @Test func anUpdateWritesWhatItReceives() async throws {
        let old = try await client.store.held(one)
        try await pack.publish(2)
        let costs = try await client.costs()
        #expect(costs.count == 1 && costs[0].written < 150_000, "\(costs)")
        let sent = try await pack.sent(by: client)
        #expect(UInt64(sent) == costs.first?.cost.bytes)
        #expect(allocatedBytes(below: try live().string) < 2 * sent)
        #expect(try files(".places").count == 1 && files(".avpack").count == 2)
        try await pack.expectContent(2, client)
        let again = try pack.client(.sealed)
        try await pack.expectContent(2, again)
        #expect(try await old.bytes("file 4") == ChangedPack.files(1)["file 4"])
        #expect(
            try await HeldPack(old.lease, in: again.store).bytes("file 1") == ChangedPack.files(1)["file 1"]
        )
        try await expectSound()
        withExtendedLifetime(old) {}
        // Nothing is left to do.
        #expect(try await pack.sent(by: client) == 0)
        #expect(try files(".avpack").count == 2)
    }

    /// It is opened later, by what its bases have.
    @Test func itIsOpenedLater() async throws {
        try await pack.publish(2)
        _ = try await client.fetch()
        world.answer { _ in .hangUp }
        let opened = try pack.client(.opened)
        _ = try await opened.fetch()
        try await pack.expectContent(2, opened)
        #expect(try files(".avpack") == [])
    }

    /// Many updates take no more than the pack and a half, and each costs what changed.
    @Test func itIsConsolidated() async throws {
        var (wasWhole, most) = (false, 0)
        for version in 2...12 {
            try await pack.publish(changes: version)
            let sent = try await pack.sent(by: client)
            #expect(sent < 120_000, "\(version): \(sent)")
            try await pack.expect(changes: version, client)
            #expect(allocatedBytes(below: home.string) < 1_500_000, "version \(version)")
            most = max(most, try files(".avpack").count)
            if try files(".places").isEmpty { wasWhole = true }
        }
        #expect(wasWhole && most > 3, "\(most)")
        try await expectSound()
    }

    /// Places that are lost or wrong are found anew by the digests of the pieces; the host is not asked.
    @Test(arguments: [true, false]) func lostPlaces(areLost: Bool) async throws {
        try await pack.publish(2)
        _ = try await client.fetch()
        let places = PiecePlaces.path(beside: try live())
        if areLost {
            try FileSystem.removeFile(places)
        } else {
            try flipByte(of: places, at: 60)
        }
        world.answer { _ in .hangUp }
        let fresh = try pack.client(.sealed)
        _ = try await fresh.fetch()
        try await pack.expectContent(2, fresh)
        try await expectSound()
        // It is whole now.
        #expect(try files(".places") == [] && files(".avpack").count == 1)
    }

    /// Whatever places say, a piece counts only by its digest.
    @Test func wrongPlacesAreDamage() async throws {
        try await pack.publish(2)
        _ = try await client.fetch()
        let live = try live()
        let path = PiecePlaces.path(beside: live)
        let sound = try DurableFile.read(path, limit: 1 << 20)
        for position in 0..<(sound.count - 32) {
            var bytes = Array(sound.dropLast(32))
            bytes[position] = ~bytes[position]
            bytes += SHA256.hash(bytes.span).bytes
            try DurableFile.write(bytes.span, to: path, permissions: 0o644, replacing: true)
            let isSound = try? await PackFile(opening: live, as: nil).check().isSound
            #expect(isSound != true, "byte \(position)")
        }
        try DurableFile.write(sound.span, to: path, permissions: 0o644, replacing: true)
        #expect(try await PackFile(opening: live, as: nil).check().isSound)
    }

    /// A base that is gone, or damaged.
    @Test(arguments: [true, false]) func aDamagedBase(isRemoved: Bool) async throws {
        try await pack.publish(2)
        _ = try await client.fetch()
        let live = try live()
        let base = try #require(try files(".avpack").first { $0 != live.lastComponent?.string })
        if isRemoved {
            try FileSystem.removeFile(home.appending(base))
        } else {
            try flipByte(of: home.appending(base), at: 150_000)
        }
        let fresh = try pack.client(.sealed)
        let before = try await world.server.packBytesAtRest
        #expect(try await fresh.repair() == [one])
        let sent = try await world.server.packBytesAtRest - before
        #expect(isRemoved ? sent > 500_000 : sent < 250_000, "\(sent)")
        try await pack.expectContent(2, fresh)
        try await expectSound()
        #expect(try files(".places") == [] && files(".avpack").count == 1)
    }

    /// Nothing rests on a version that has changed.
    @Test func aChangedVersion() async throws {
        try flipByte(of: try live(), at: 150_000)
        try await pack.publish(2)
        _ = try await client.fetch()
        #expect(try files(".places") == [] && files(".avpack").count == 1)
        try await pack.expectContent(2, client)
        try await expectSound()
    }

    /// A file without holes, as file systems without them make it, gets all pieces.
    @Test func aFileSystemWithoutHoles() async throws {
        try await pack.publish(2)
        try await client.refresh()
        let manifest = try await client.pack(withID: one)
        let zeros = [UInt8](repeating: 0, count: Int(manifest.length))
        try OpenFile(creating: world.layout.partialDownload(of: manifest), permissions: 0o600)
            .write(zeros.span, at: 0)
        #expect(try await pack.sent(by: client) < 120_000)
        #expect(try files(".places") == [] && files(".avpack").count == 1)
        #expect(try DurableFile.read(live(), limit: 1 << 28) == world.hosted(manifest))
        try await pack.expectContent(2, client)
    }

    /// A base becomes the live version again.
    @Test func aVersionIsRestored() async throws {
        try await pack.publish(2)
        _ = try await client.fetch()
        try await pack.publish(1)
        let sent = try await pack.sent(by: client)
        #expect(sent < 120_000, "\(sent)")
        try await pack.expectContent(1, client)
        try await expectSound()
    }

    /// A downloader's pack rests on the live sealed version, and is moved into its folder.
    @Test func aDownloaderRestsOnTheLiveVersion() async throws {
        try await pack.publish(2)
        #expect(try await world.downloader().run(.update).firstError == nil)
        let folder = world.layout.waiting(of: one)
        #expect(allocatedBytes(below: folder.string) < 150_000)
        world.answer { _ in .hangUp }
        try await client.unlock()
        try await pack.expectContent(2, client)
        try await expectSound()
        #expect(try files(".places").count == 1 && files(".avpack").count == 2)
        #expect(try names(in: folder).isEmpty)
    }

    /// Of the version and of its bases the bytes count that are on the disk.
    @Test func itsSize() async throws {
        for version in 2...4 {
            try await pack.publish(changes: version)
            _ = try await client.fetch()
        }
        try await client.store.declarePurgeable(one)
        let taken = UInt64(allocatedBytes(below: home.string))
        let sizes = [
            try await client.store.usage().sizeOnDisk(),
            try await client.store.purgeablePacks().saturatingSum(\.size),
        ]
        for size in sizes { #expect((taken - 60_000..<taken).contains(size), "\(size) of \(taken)") }
    }

    /// A removed pack leaves nothing.
    @Test func itIsRemoved() async throws {
        try await pack.publish(2)
        _ = try await client.fetch()
        try await client.remove(one)
        #expect(try files("") == [])
    }
}
