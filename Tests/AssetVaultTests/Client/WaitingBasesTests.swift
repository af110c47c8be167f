import FaultServer
import Foundation
import Glibc
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem

@testable import AssetVault
@testable import SealedPack

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

    private func packs() throws -> [String] { try names(in: folder).filter { $0.hasSuffix(".avpack") } }

    @Test(arguments: [PackForm.opened, .sealed]) func itIsOpenedWithoutAHost(form: PackForm) async throws {
        for version in 2...3 {
            let before = allocatedBytes(below: folder.string)
            try await pack.publish(changes: version)
            let sent = try await pack.sentByDownloader()
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
            _ = try await pack.sentByDownloader()
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
        _ = try await pack.sentByDownloader()
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
            _ = try await pack.sentByDownloader()
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
            #expect(try await pack.sentByDownloader() < 120_000)
            #expect(allocatedBytes(below: folder.string) < 1_500_000, "version \(version)")
        }
        let client = try pack.client(.sealed)
        world.answer { _ in .hangUp }
        try await client.unlock()
        try await pack.expect(changes: 10, client)
    }

    private var store: StoreAccess { StoreAccess(layout: world.layout, role: .app) }

    /// Version 2, which waits and rests on version 1, verified. From now on the host is silent.
    private func restingPack() async throws -> (manifest: PackManifest, ArrivedPack, client: VaultClient) {
        try await pack.publish(2)
        _ = try await pack.sentByDownloader()
        let client = try pack.client(.sealed)
        try await client.refresh()
        world.answer { _ in .hangUp }
        let manifest = try await client.pack(withID: one)
        let waiting = try #require(try store.waiting(one).open(manifest))
        let names = try store.waiting(one).bases(of: manifest)
        let files = try ReusablePacks(world.layout).waitingFiles(names, of: manifest)
        let file = try PackFile(waiting, as: manifest)
        let resting = try await file.resting(on: files, as: "@2.avpack", having: file.writtenPieces())
        let bases = try #require(resting?.bases)
        return (manifest, ArrivedPack(waiting, on: bases), client)
    }

    /// Each copies it to a file of its own.
    @Test func severalProcessesKeepItSealed() async throws {
        let (manifest, waiting, client) = try await restingPack()
        let installer = PackInstaller(store: store, space: DiskSpace(store: store), sets: PackSets())
        let listing = try store.records.record(of: one).listing
        try await withThrowingTaskGroup(of: PackState.self) { group in
            for _ in 0..<3 {
                group.addTask { try await installer.keepSealed(waiting, of: manifest, listedBy: listing) }
            }
            for try await state in group { #expect(state == .loaded) }
        }
        try await pack.expectContent(2, client)
        #expect(try await client.store.verify().map(\.finding) == [.sound])
        #expect(try names(in: world.layout.home(of: one)).filter { $0.contains(".avpack") }.count == 2)
    }

    /// Another process has all of it a moment later: the file that waits still rests on the one before.
    @Test func aWholeFileThatComesLater() async throws {
        let (manifest, waiting, client) = try await restingPack()
        try world.layout.makeEphemeral()
        let path = world.layout.partialDownload(of: manifest)
        let file = OpenFileReference(try OpenFile(creating: path, permissions: 0o600))
        try waiting.packFile(of: manifest).writeTailFile(to: file.file)
        let whole = try await waiting.completed(in: file, of: manifest)
        let downloader = StoreAccess(layout: world.layout, role: .downloader)
        let listing = try downloader.records.record(of: one).listing
        try await downloader.transfer.share(
            whole, of: manifest, listedBy: listing, space: DiskSpace(store: downloader))
        try await client.unlock(as: .sealed)
        try await pack.expectContent(2, client)
    }
}
