import FaultServer
import SealedPack
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem
import VaultTransport

@testable import AssetVault

/// Files of a pack that is not loaded, or is still arriving, by its pieces; and the order in which these arrive.
@Suite(.timeLimit(.minutes(5))) struct EarlyReadTests {
    private static let big = noise(3_000_000, seed: 1)
    private static let start = noise(40_000, seed: 2)
    private static let last = noise(400_000, seed: 3)
    private static let files = ["a/big": big, "menu/start": start, "menu/title": World.secret, "z": last]

    private let world: World

    init() async throws {
        world = try await World()
        try await world.publish(Self.files)
        try await world.declareFirst("menu/**")
    }

    /// The answers to all requests for the pack after the first ones: index and catalog, and the first pieces.
    private func afterFirstPieces(_ answer: FaultServer.Answer) {
        world.answer { $0.earlier < 2 ? .file : answer }
    }

    private func client(_ form: PackForm = .opened) throws -> VaultClient {
        try world.client { $0.form = form }
    }

    /// A download that ended after the first pieces.
    private func interrupt(_ form: PackForm) async throws {
        afterFirstPieces(.hangUp)
        let client = try client(form)
        #expect(await category { _ = try await client.fetch() } != nil)
    }

    @Test func firstPiecesAreAskedForFirst() async throws {
        _ = try await client().fetch()
        try await world.server.rest()
        let bodies = world.server.packs.map(\.bodyBytes)
        try #require(bodies.count == 4, "\(bodies)")
        // Index and catalog, the menu, what stands before it, what stands after it.
        #expect(bodies[0] < 20_000 && (40_000..<120_000).contains(bodies[1]), "\(bodies)")
        #expect(world.server.packs[2].request.start == 64)
        #expect(try await client().store.contents(of: EntryPath("a/big"), in: .one) == Self.big)
    }

    /// While the rest of the pack does not come.
    @Test(arguments: [PackForm.opened, .sealed]) func readWhileThePackArrives(form: PackForm) async throws {
        let isReleased = Flag()
        afterFirstPieces(.steps([.until { isReleased.isSet }, .close]))
        let client = try client(form)
        async let fetched = client.fetch()
        while world.server.packs.count < 3 { try await Task.sleep(for: .milliseconds(5)) }
        let early = try await client.early(.one)
        #expect(early.id == .one && early.version == 1)
        #expect(try await early.bytes("menu/start") == Self.start)
        #expect(try await early.bytes("menu/start", in: 5..<39_000) == Array(Self.start[5..<39_000]))
        // Another process reads it, too.
        let other = try await self.client(form).early(.one)
        #expect(try await other.bytes("menu/title") == World.secret)
        #expect(world.server.packs.count == 3, "nothing more was asked for")
        world.answer { _ in .file }
        isReleased.set()
        _ = try await fetched
        #expect(try await client.store.contents(of: EntryPath("z"), in: .one) == Self.last)
    }

    /// Of a pack that is not here only index, catalog and the pieces of the file come, once.
    @Test func aFileThatIsNotHere() async throws {
        let client = try client()
        let early = try await client.early(.one)
        #expect(try await early.bytes("z") == Self.last)
        #expect(try await early.bytes("z", in: 0..<400_000) == Self.last)
        #expect(try await world.server.packBytesAtRest < 500_000)
        #expect(try await early.files.map(\.path.string) == ["a/big", "menu/start", "menu/title", "z"])
        #expect(try await early.size(of: "menu/start") == 40_000)
        #expect(await category { _ = try await early.bytes("menu") } == .missing)
        #expect(await category { _ = try await early.bytes("../z") } == .corrupt)
        #expect(await category { _ = try await early.bytes("z", in: 0..<400_001) } == .usage)
        #expect(try await client.store.status(of: .one).state == .absent)
        #expect(try names(in: world.layout.ephemeral).isEmpty)
    }

    /// Without the host, what has arrived is read, and what has not is an error.
    @Test(arguments: [PackForm.opened, .sealed]) func withoutTheHost(form: PackForm) async throws {
        try await interrupt(form)
        try await world.server.stop()
        let early = try await client(form).early(.one)
        #expect(try await early.bytes("menu/start") == Self.start)
        let error = await thrown { _ = try await early.bytes("z") }
        #expect(error?.isHostFailure == true, "\(String(describing: error))")
    }

    /// Every byte of what has arrived is damaged: with a host the pieces come again, without one nothing is returned.
    @Test(arguments: [PackForm.opened, .sealed]) func damageIsNoticed(form: PackForm) async throws {
        try await interrupt(form)
        let id = PackID.one
        let manifest = try await client().pack(withID: id)
        if form == .sealed {
            let part = world.layout.partialDownload(of: manifest)
            let file = try OpenFile(updating: part)
            for stretch in try file.dataRanges(in: 64..<(manifest.length - 128 - manifest.tailLength)) {
                for offset in stride(from: stretch.lowerBound, to: stretch.upperBound, by: 1_000) {
                    try flipByte(of: part, at: offset)
                }
            }
        } else {
            let path = world.layout.arrivingTree(of: manifest).appending("menu").appending("start")
            try Folder(opening: path.removingLastComponent()).openFile("start").setPermissionsOfNew(0o600)
            for offset in stride(from: UInt64(0), to: 40_000, by: 1_000) {
                try flipByte(of: path, at: offset)
            }
        }
        let early = try await client(form).early(id)
        #expect(await category { _ = try await early.bytes("menu/start") } != nil)
        world.answer { _ in .file }
        #expect(try await early.bytes("menu/start") == Self.start)
    }

    /// A tail that is damaged comes again.
    @Test func aDamagedTail() async throws {
        try await interrupt(.sealed)
        world.answer { _ in .file }
        let manifest = try await client().pack(withID: .one)
        try flipByte(of: world.layout.partialDownload(of: manifest), at: manifest.length - 200)
        #expect(try await client(.sealed).early(.one).bytes("menu/start") == Self.start)
    }

    /// A file under the name of a version that was listed before, which this program never began to download.
    @Test(arguments: [true, false]) func aFileOfAnotherProgram(isInSharedStorage: Bool) async throws {
        let first = try client()
        try await first.refresh()
        let old = try await first.pack(withID: .one)
        try await world.publish(Self.files.merging(["z": Self.start]) { $1 })
        let layout = world.layout
        let path = isInSharedStorage ? layout.waitingPack(old) : layout.partialDownload(of: old)
        try FileSystem.createFolders(path.removingLastComponent(), permissions: 0o700)
        try OpenFile(creating: path, permissions: 0o600).truncate(to: old.length)
        let early = try await client().early(.one)
        #expect(early.version == 2)
        #expect(try await early.bytes("z") == Self.start)
    }

    @Test func nothingUnverifiedIsReturned() async throws {
        let early = try await client().early(.one)
        world.answer { _ in .changed { reply in reply.body = reply.body.map { $0 ^ 1 } } }
        #expect(await category { _ = try await early.bytes("z") } == .corrupt)
        world.answer { _ in .file }
        #expect(try await early.bytes("z") == Self.last)
    }

    /// A loaded version is read without the host.
    @Test(arguments: [PackForm.opened, .sealed]) func aLoadedPack(form: PackForm) async throws {
        let client = try client(form)
        _ = try await client.fetch()
        try await world.server.stop()
        let early = try await client.early(.one)
        #expect(try await early.bytes("z") == Self.last)
        #expect(try await early.size(of: "z") == 400_000)
        #expect(try await early.files.count == 4)
    }

    /// It is kept while its pack is loaded: from then on it reads that version, and after an update the host's again.
    @Test(arguments: [PackForm.opened, .sealed]) func keptWhileThePackIsLoaded(form: PackForm) async throws {
        let client = try client(form)
        let early = try await client.early(.one)
        _ = try await client.fetch()
        let sent = try await world.server.packBytesAtRest
        world.answer { _ in .hangUp }
        #expect(try await early.bytes("z") == Self.last)
        #expect(try await early.bytes("a/big", in: 5..<300_000) == Array(Self.big[5..<300_000]))
        #expect(await category { _ = try await early.bytes("z", in: 0..<400_001) } == .usage)
        #expect(await category { _ = try await early.bytes("menu") } == .missing)
        #expect(try await world.server.packBytesAtRest == sent)
        world.answer { _ in .file }
        try await world.publish(Self.files.merging(["z": noise(400_000, seed: 4)]) { $1 })
        _ = try await client.fetch()
        #expect(try await client.store.status(of: .one).loadedVersion == 2)
        #expect(try await early.bytes("z") == Self.last && early.version == 1)
    }

    @Test func withoutAKey() async throws {
        let client = try world.client(keys: false)
        #expect(await category { _ = try await client.early(.one) } == .key)
        #expect(await category { _ = try await client.early(.extras) } == .missing)
    }

    /// Another order changes nothing but the metadata.
    @Test func anotherOrder() async throws {
        let before = try await client().pack(withID: .one)
        _ = try await client().fetch()
        let bytes = try await world.server.packBytesAtRest
        try await world.declareFirst("z")
        let after = try await client().pack(withID: .one)
        #expect(after.sha256 == before.sha256 && after.version == before.version)
        #expect(after.first != before.first && after.first.count > 0)
        _ = try await client().fetch()
        #expect(try await world.server.packBytesAtRest == bytes)
    }

    /// What an app reads, in the order of its first reads, is a list of first files.
    @Test(arguments: [PackForm.opened, .sealed]) func recordedReads(form: PackForm) async throws {
        let record = ReadRecord()
        let client = try world.client { ($0.form, $0.reads) = (form, record) }
        _ = try await client.fetch()
        for path in ["z", "menu/start", "z", "a/big"] {
            _ = try await client.store.contents(of: EntryPath(path), in: .one)
        }
        #expect(await category { _ = try await client.store.contents(of: EntryPath("no"), in: .one) } != nil)
        #expect(record.list() == "z\nmenu/start\na/big\n")
        #expect(record.list(of: .one) == record.list() && record.list(of: .extras) == "")
    }
}

extension World {
    /// Declares the first files of the pack, and publishes that.
    fileprivate func declareFirst(_ patterns: String...) async throws {
        try await declare("first", of: [World.id: .array(patterns.map(JSONValue.string))])
    }
}
