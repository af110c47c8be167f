import AssetVault
import FaultServer
import Glibc
import SealedPack
import Synchronization
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem

/// An update downloads what changed.
@Suite(.timeLimit(.minutes(5))) struct SmallUpdateTests {
    let world: World
    let one = PackID.one

    /// Version 1, of a megabyte in some twenty pieces, is hosted.
    init() async throws {
        world = try await World.withPacks()
        try await publish(1)
    }

    private static func files(_ version: UInt64) -> [String: [UInt8]] {
        var files = Dictionary(
            uniqueKeysWithValues: (0..<10).map { ("file \($0)", noise(90_000, seed: $0 + 10)) })
        files["file 4"] = noise(90_000, seed: Int(100 + version))
        // Worth compressing.
        for name in ["file 8", "file 9"] { files[name] = files[name]?.map { $0 & 15 } }
        return files
    }

    private func publish(_ version: UInt64) async throws {
        try await world.publish(Self.files(version))
    }

    private func sealedClient() throws -> VaultClient {
        return try world.client { $0.form = .sealed }
    }

    /// A hosted pack's file, as the site lists it to `client`.
    private func hostedPack(_ client: VaultClient, _ name: String) async throws -> PackFile {
        let bytes = try world.hosted(try await client.pack(withID: one))
        let path = world.place.vault.path.appending(name)
        try OpenFile(creating: path, permissions: 0o644).write(bytes.span, at: 0)
        return try PackFile(opening: path, as: nil)
    }

    private func expectContent(_ version: UInt64, _ client: VaultClient) async throws {
        for (name, bytes) in Self.files(version) {
            #expect(try await client.store.contents(of: EntryPath(name), in: one) == bytes, "\(name)")
        }
    }

    /// Over a metered network only what must come counts.
    @Test func anAllowanceAboveAnUpdate() async throws {
        _ = try await sealedClient().fetch()
        try await publish(2)
        func careful(_ allowance: UInt64) throws -> VaultClient {
            return try world.client {
                $0.form = .sealed
                $0.network = .metered
                $0.policy.meteredAllowance = allowance
            }
        }
        let tooCareful = try careful(50_000)
        let cost = try await tooCareful.costs(of: .only([one])).reduce(0) { $0 + $1.cost.bytes }
        #expect(50_001..<120_000 ~= cost)
        let error = try #require(await thrown { _ = try await tooCareful.fetch(.only([one])) })
        #expect(error.category == .limit && error.missingBytes == cost - 50_000, "\(error)")
        let client = try careful(cost)
        _ = try await client.fetch(.only([one]))
        try await expectContent(2, client)
    }

    @Test func onlyChangedPiecesAreFetched() async throws {
        let client = try sealedClient()
        _ = try await client.fetch()
        let old = try await hostedPack(client, "old")
        try await publish(2)
        try await client.refresh()
        let cost = try UpdateCost(of: try await hostedPack(client, "new"), reusing: [old])
        #expect(cost.reusedPieces > 8 && cost.bytes < 120_000)
        let before = (try await world.server.packBytesAtRest, world.server.packs.count)
        let costs = try await client.costs()
        #expect(costs.map(\.id) == [one] && costs.map(\.version) == [3] && costs.map(\.cost) == [cost])
        let lookedAt = (try await world.server.packBytesAtRest, world.server.packs.count)
        #expect(lookedAt.0 > before.0 && lookedAt.0 - before.0 < 20_000)
        #expect(try Folder(opening: world.layout.ephemeral).names().isEmpty)
        let updates = client.statusUpdates(for: one)
        _ = try await client.fetch()
        #expect(UInt64(try await world.server.packBytesAtRest - lookedAt.0) == cost.bytes)
        #expect(world.server.packs.count - lookedAt.1 == cost.requests)
        try await expectContent(2, client)
        #expect(try await client.costs() == [])
        client.endStatusUpdates()
        // What was taken over counts as present.
        var last: StatusUpdate?
        for await update in updates { last = update }
        #expect(last == .finished(one, .loaded))
    }

    /// Without a key: waiting packs are reused like loaded ones.
    @Test func aDownloaderReusesPiecesWithoutAKey() async throws {
        let downloader = try world.downloader()
        #expect(try await downloader.run(.install).firstError == nil)
        try await publish(2)
        let before = world.server.packBytes
        #expect(try await downloader.run(.update).firstError == nil)
        #expect(world.server.packBytes - before < 120_000)
        let client = try world.client()
        try await client.unlock()
        try await expectContent(2, client)
    }

    /// A host without ranges: the whole pack is sent, which is reported.
    @Test func aHostWithoutRanges() async throws {
        let client = try sealedClient()
        _ = try await client.fetch()
        try await publish(2)
        world.answer { _ in .wholeFile }
        let updates = client.statusUpdates(for: one)
        let before = world.server.packs.count
        let costs = try await client.costs()
        #expect(costs.count == 1 && costs[0].cost.bytes == costs[0].cost.length)
        let lookedAt = world.server.packs.count
        _ = try await client.fetch()
        #expect(world.server.packs.dropFirst(before).map(\.status) == [200, 200])
        #expect(world.server.packs[lookedAt].bodyBytes == Int(costs[0].cost.length))
        try await expectContent(2, client)
        client.endStatusUpdates()
        var reported = 0
        for await update in updates {
            if case .sentWhole(one, _) = update { reported += 1 }
        }
        #expect(reported == 2)
    }

    /// A changed sealed pack of an earlier version is not reused, and does no harm.
    @Test func aChangedOldPack() async throws {
        let client = try sealedClient()
        _ = try await client.fetch()
        let path = try await client.store.lease(of: one).root
        try flipByte(of: path, at: 150_000)
        try await publish(2)
        let before = world.server.packBytes
        _ = try await client.fetch()
        let sent = world.server.packBytes - before
        #expect(sent > 120_000 && sent < 400_000, "\(sent)")
        try await expectContent(2, client)
    }

    /// The partial download of a superseded version is reused.
    @Test func anEarlierPartialDownload() async throws {
        // The tail, a part, and then nothing any more.
        world.answer { $0.earlier == 1 ? .cut(after: 500_000) : $0.earlier == 0 ? .file : .hangUp }
        let first = try world.client(keys: false) { $0.retries.attempts = 1 }
        #expect(await category { _ = try await first.fetch() } == .unavailable)
        #expect(try Folder(opening: world.layout.ephemeral).names().count == 1)
        world.answer { _ in .file }
        try await publish(2)
        let before = world.server.packBytes
        let client = try sealedClient()
        _ = try await client.fetch()
        let sent = world.server.packBytes - before
        #expect(sent > 300_000 && sent < 700_000, "\(sent)")
        try await expectContent(2, client)
        #expect(try Folder(opening: world.layout.ephemeral).names().isEmpty)
    }

    /// A pack with the same content key under another ID, as after a change of names.
    @Test func aRenamedPackIsReused() async throws {
        _ = try await sealedClient().fetch()
        let layout = world.layout
        for area in [layout.permanent, layout.permanent.appending("@state")] {
            try FileSystem.move(
                area.appending("levels"), to: area.appending("stages"), replacing: false)
        }
        try await publish(2)
        let before = world.server.packBytes
        let client = try sealedClient()
        _ = try await client.fetch()
        #expect(world.server.packBytes - before < 120_000)
        try await expectContent(2, client)
    }

    /// The old pack stays open, so its removal does no harm.
    @Test func theOldPackIsRemovedDuringTheUpdate() async throws {
        let client = try sealedClient()
        _ = try await client.fetch()
        try await publish(2)
        let home = world.place.home
        world.answer { request in
            // The tail is asked for when the old packs are open.
            for name in (try? names(in: home)) ?? [] where name.hasSuffix(".avpack") {
                try? FileSystem.removeFile(home.appending(name))
            }
            return .file
        }
        let before = world.server.packBytes
        _ = try await client.fetch()
        #expect(world.server.packBytes - before < 120_000)
        try await expectContent(2, client)
    }
}

/// The same where the old version stands opened: the new one rests on its tree.
extension SmallUpdateTests {
    private func openedClient() throws -> VaultClient {
        return try world.client { $0.form = .opened }
    }

    /// Bytes of packs that a fetch takes.
    private func sent(by client: VaultClient) async throws -> Int {
        let before = try await world.server.packBytesAtRest
        _ = try await client.fetch()
        return try await world.server.packBytesAtRest - before
    }

    @Test func anOpenedTreeIsReused() async throws {
        let client = try openedClient()
        let first = try await sent(by: client)
        #expect(first > 700_000)
        let old = try await hostedPack(client, "old")
        try await publish(2)
        try await client.refresh()
        let cost = try UpdateCost(of: try await hostedPack(client, "new"), reusing: [old])
        #expect(try await client.costs().map(\.cost) == [cost])
        let second = try await sent(by: client)
        #expect(UInt64(second) == cost.bytes)
        #expect(cost.bytes < 120_000)
        try await expectContent(2, client)
        // The tree, its manifest, and what the next update needs.
        let root = try await client.store.lease(of: one).root
        #expect(try FileSystem.exists(FilePath(root.string + ".tail")))
        #expect(try world.place.staged().count == 2)
        try await publish(3)
        #expect(try await sent(by: client) < 120_000)
        try await expectContent(3, client)
        try await client.remove(one)
        #expect(try world.place.staged() == [])
    }

    /// With any compression, which is not recorded anywhere.
    @Test(arguments: Compression.allCases) func anyCompression(_ compression: Compression) async throws {
        let client = try openedClient()
        try await world.publish(Self.files(1), as: "levels/other", compression)
        _ = try await sent(by: client)
        try await world.publish(Self.files(2), as: "levels/other", compression)
        let reported = try await client.costs().reduce(0) { $0 + $1.cost.bytes }
        #expect(UInt64(try await sent(by: client)) == reported)
        #expect(reported < 120_000)
    }

    /// Only files that changed are written; who holds the earlier version still reads it.
    @Test func unchangedFilesAreLinked() async throws {
        let client = try openedClient()
        _ = try await client.fetch()
        try await publish(2)
        let before = try await client.store.lease(of: one)
        _ = try await client.fetch()
        let after = try await client.store.lease(of: one)
        #expect(before.root != after.root)
        var linked: Set<String> = []
        for name in Self.files(2).keys
        where try Self.isSameFile(before.root.appending(name), after.root.appending(name)) {
            linked.insert(name)
        }
        // The pieces at its ends have a part of its neighbours.
        #expect(
            linked.isSuperset(of: ["file 0", "file 1", "file 2", "file 6", "file 7", "file 8", "file 9"]))
        #expect(!linked.contains("file 4"))
        for (name, bytes) in Self.files(1) {
            #expect(try await client.store.contents(of: EntryPath(name), in: before) == bytes, "\(name)")
        }
        try await expectContent(2, client)
    }

    private static func isSameFile(_ one: FilePath, _ other: FilePath) throws -> Bool {
        guard let one = try FileSystem.status(of: one) else { return false }
        return try FileSystem.status(of: other)?.isSameFile(as: one) == true
    }

    /// Changed files are not reused, and that is known before.
    @Test(arguments: ["file 2", "file 9"]) func aChangedFile(name: String) async throws {
        let client = try openedClient()
        _ = try await client.fetch()
        let old = try await hostedPack(client, "old")
        try flipByte(of: try await client.store.lease(of: one).root.appending(name), at: 100)
        try await publish(2)
        try await client.refresh()
        let least = Int(try UpdateCost(of: try await hostedPack(client, "new"), reusing: [old]).bytes)
        let cost = try await client.costs().reduce(0) { $0 + Int($1.cost.bytes) }
        let sent = try await sent(by: client)
        // A piece more.
        #expect(sent > least + 10_000 && sent < least + 150_000 && sent == cost, "\(sent)")
        try await expectContent(2, client)
    }

    /// A file whose bytes rotted, and whose time and size did not change: what was left out of the download is fetched after all, and
    /// nothing of the file reaches the new version.
    @Test func aFileThatChangedUnseen() async throws {
        let client = try openedClient()
        var long = noise(600_000, seed: 9)
        try await world.publish(["long": long, "short": [1]])
        _ = try await client.fetch()
        let file = try await client.store.lease(of: one).root.appending("long")
        try flipByteUnseen(of: file)
        long[599_999] ^= 1
        try await world.publish(["long": long, "short": [1]])
        let cost = try await client.costs().reduce(0) { $0 + Int($1.cost.bytes) }
        let sent = try await sent(by: client)
        #expect(sent > cost + 10_000 && sent < cost + 300_000, "\(sent), not \(cost)")
        #expect(try await client.store.contents(of: EntryPath("long"), in: one) == long)
        #expect(try await client.store.verify().map(\.finding) == [.sound])
        #expect(try names(in: world.layout.ephemeral).isEmpty)
    }

    /// `UTIME_OMIT`.
    private static let keepsTime = (1 << 30) - 2

    /// Changes the first byte, and gives the file its time back.
    private func flipByteUnseen(of path: FilePath) throws {
        let before = try FileSystem.status(of: path)
        var status = stat()
        #expect(unsafe stat(path.string, &status) == 0)
        try flipByte(of: path, at: 0)
        let times = [timespec(tv_sec: 0, tv_nsec: Self.keepsTime), status.st_mtim]
        #expect(unsafe utimensat(AT_FDCWD, path.string, times, 0) == 0)
        #expect(try FileSystem.status(of: path)?.modified == before?.modified)
    }

    /// Missing files or a missing tail are not reused.
    @Test(arguments: [true, false]) func missingFiles(isTail: Bool) async throws {
        let client = try openedClient()
        _ = try await client.fetch()
        let root = try await client.store.lease(of: one).root
        if isTail {
            try flipByte(
                of: FilePath(root.string + ".tail"), at: try await client.pack(withID: one).length - 300)
        } else {
            try FileSystem.removeFile(root.appending("file 5"))
        }
        try await publish(2)
        let sent = try await sent(by: client)
        #expect(isTail ? sent > 700_000 : sent > 120_000 && sent < 300_000, "\(sent)")
        try await expectContent(2, client)
    }

    /// Without the key nothing can be sealed.
    @Test func aDownloaderReusesNothingFromATree() async throws {
        _ = try await openedClient().fetch()
        try await publish(2)
        let before = world.server.packBytes
        #expect(try await world.downloader().run(.update).firstError == nil)
        #expect(world.server.packBytes - before > 700_000)
        let client = try openedClient()
        #expect(try await sent(by: client) == 0)
        try await expectContent(2, client)
    }

    /// A host that sends the tail, so many bytes, and then nothing any more.
    private func interrupt(after count: Int) async throws {
        world.answer { $0.earlier == 1 ? .cut(after: count) : $0.earlier == 0 ? .file : .hangUp }
        let client = try world.client { $0.retries.attempts = 1 }
        #expect(await category { _ = try await client.fetch(.only([one])) } == .unavailable)
        world.answer { _ in .file }
    }

    private func arrivingTrees() throws -> [FilePath] {
        try names(in: world.place.home).filter { $0.hasSuffix(".arriving") }.map {
            world.place.home.appending($0)
        }
    }

    /// What was opened of a superseded version is reused, and is gone afterwards.
    @Test func anEarlierArrivingTree() async throws {
        try await interrupt(after: 500_000)
        #expect(try arrivingTrees().count == 1)
        try await publish(2)
        let client = try openedClient()
        let sent = try await sent(by: client)
        #expect(sent > 300_000 && sent < 700_000, "\(sent)")
        try await expectContent(2, client)
        #expect(try arrivingTrees() == [])
        #expect(try names(in: world.layout.ephemeral).isEmpty)
    }

    /// A process that died after it had written a piece, and before it had written the equal one.
    @Test func aCopyThatWasNotWritten() async throws {
        let (same, other) = (noise(400_000, seed: 21), noise(400_000, seed: 22))
        let files = ["a": same, "b": same, "c": other]
        try await world.publish(files)
        try await interrupt(after: 450_000)
        let tree = try #require(try arrivingTrees().first)
        #expect(try FileSystem.status(of: tree.appending("a")) != nil)
        try FileSystem.removeFile(tree.appending("b"))
        let client = try openedClient()
        _ = try await client.fetch()
        for (name, bytes) in files {
            #expect(try await client.store.contents(of: EntryPath(name), in: one) == bytes, "\(name)")
        }
    }
}
