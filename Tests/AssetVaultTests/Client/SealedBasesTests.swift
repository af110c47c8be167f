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
        let old = try await client.store.lease(of: one)
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
        #expect(
            try await client.store.contents(of: EntryPath("file 4"), in: old)
                == ChangedPack.files(1)["file 4"])
        #expect(
            try await again.store.contents(of: EntryPath("file 1"), in: old) == ChangedPack.files(1)["file 1"]
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

extension ChangedPack {
    /// Version 1, and what each version since then changed: another file each time.
    private static func changedFiles(_ version: Int) -> [String: [UInt8]] {
        var files = files(1)
        for number in 2...version { files["file \(number % 8)"] = noise(90_000, seed: 200 + number) }
        return files
    }

    fileprivate func publish(changes version: Int) async throws {
        try await world.publish(Self.changedFiles(version))
    }

    fileprivate func expect(changes version: Int, _ client: VaultClient) async throws {
        for (name, bytes) in Self.changedFiles(version) {
            #expect(try await client.store.contents(of: EntryPath(name), in: id) == bytes, "\(name)")
        }
    }
}

/// A pack that waits for its key rests on the one that waited before.
@Suite(.timeLimit(.minutes(5))) struct WaitingBasesTests {
    let pack: ChangedPack
    private var world: World { pack.world }
    private let one = PackID.one

    /// Version 1 waits.
    init() async throws {
        pack = try await ChangedPack()
        #expect(try await world.downloader().run(.install).firstError == nil)
    }

    private var folder: FilePath { world.layout.waiting(of: one) }

    private func update() async throws -> Int {
        let before = world.server.packBytes
        #expect(try await world.downloader().run(.update).firstError == nil)
        return world.server.packBytes - before
    }

    private func packs() throws -> [String] { try names(in: folder).filter { $0.hasSuffix(".avpack") } }

    @Test(arguments: [PackForm.opened, .sealed]) func itIsOpenedWithoutAHost(form: PackForm) async throws {
        for version in 2...3 {
            let before = allocatedBytes(below: folder.string)
            try await pack.publish(changes: version)
            let sent = try await update()
            #expect(sent < 120_000)
            #expect(allocatedBytes(below: folder.string) - before < 2 * sent)
        }
        #expect(try packs().count == 3)
        world.answer { _ in .hangUp }
        let client = try pack.client(form)
        try await client.unlock(as: form)
        try await pack.expect(changes: 3, client)
        #expect(try await client.store.verify().map(\.finding) == [.sound])
        #expect(try names(in: folder).isEmpty)
    }

    /// A file system may report holes as data: here the files have zeros in their place.
    @Test func holesThatAreData() async throws {
        for version in 2...3 {
            try await pack.publish(changes: version)
            _ = try await update()
        }
        for name in try packs() {
            let file = URL(filePath: folder.appending(name).string)
            try Data(contentsOf: file).write(to: file)
        }
        world.answer { _ in .hangUp }
        let client = try pack.client(.sealed)
        try await client.unlock(as: .sealed)
        try await pack.expect(changes: 3, client)
    }

    /// What fails later is downloaded.
    @Test func aBaseThatChangesLater() async throws {
        let base = try #require(try packs().first)
        try await pack.publish(2)
        _ = try await update()
        try flipByte(of: folder.appending(base), at: 150_000)
        let client = try pack.client(.opened)
        world.answer { _ in .hangUp }
        #expect(await category { try await client.unlock() } == .corrupt)
        world.answer { _ in .file }
        let sent = try await pack.sent(by: client)
        #expect(sent > 10_000 && sent < 400_000, "\(sent)")
        try await pack.expectContent(2, client)
        #expect(try names(in: folder).isEmpty)
    }

    @Test func itsSize() async throws {
        for version in 2...3 {
            try await pack.publish(changes: version)
            _ = try await update()
        }
        let store = try pack.client(.sealed).store
        let taken = UInt64(allocatedBytes(below: folder.string))
        let size = try await store.usage().sizeOnDisk()
        #expect((taken - 60_000..<taken).contains(size), "\(size) of \(taken)")
    }

    /// Places that another user wrote name what is no file of a pack, or takes nothing.
    @Test func theSizeByForeignPlaces() async throws {
        let live = folder.appending(try #require(try packs().first))
        let names = ["@own", "@pipe", "@link", "@absent", "@holes"]
        try FileSystem.createFolders(folder.appending("@own"), permissions: 0o755)
        #expect(unsafe mkfifo(folder.appending("@pipe").string, 0o644) == 0)
        try Folder(opening: folder).replaceLink("@link", target: live)
        try OpenFile(creating: folder.appending("@holes"), permissions: 0o644).truncate(to: 1 << 60)
        try PiecePlaces(bases: names + [live.lastComponent?.string ?? ""], runs: [])
            .save(beside: live, of: PackFile(opening: live, as: nil))
        let size = try await pack.client(.sealed).store.usage().sizeOnDisk()
        let length = try #require(try FileSystem.status(of: live)).size
        #expect((length - 60_000...length).contains(size), "\(size) of \(length)")
    }

    @Test func manyUpdates() async throws {
        for version in 2...10 {
            try await pack.publish(changes: version)
            #expect(try await update() < 120_000)
            #expect(allocatedBytes(below: folder.string) < 1_500_000, "version \(version)")
        }
        let client = try pack.client(.sealed)
        world.answer { _ in .hangUp }
        try await client.unlock()
        try await pack.expect(changes: 10, client)
    }
}
