import FaultServer
import Glibc
import Sampling
import Testing
import VaultAuthoring
import VaultFileSystem

@testable import AssetVault

/// Files that other programs put into a store, or that a disk lost.
@Suite(.timeLimit(.minutes(5))) struct PlantedFileTests {
    let world: World
    let one = PackID.one
    private var layout: StoreLayout { world.layout }

    init() async throws { world = try await World.withPacks() }

    private func digest() async throws -> String {
        try await world.client().pack(withID: one).sha256.hex
    }

    /// Anybody may write to ephemeral storage: files of other users are not written to, trusted or in the way.
    @Test(
        arguments: Sampling.pairs(
            ["hard link", "link", "writable", "pipe", "folder"], ["part", "avpack"],
            for: "unknownFilesUnderTheDownloadsName"))
    func unknownFilesUnderTheDownloadsName(kind: String, suffix: String) async throws {
        let name = "\(try await digest()).\(suffix)"
        try FileSystem.createFolders(layout.ephemeral, permissions: 0o700)
        let place = layout.ephemeral.appending(name)
        let victim = layout.ephemeral.appending("victim")
        let precious = Array("precious".utf8)
        try OpenFile(creating: victim, permissions: 0o644).write(precious.span, at: 0)
        switch kind {
        case "hard link": #expect(unsafe link(victim.string, place.string) == 0)
        case "link": #expect(unsafe symlink(victim.string, place.string) == 0)
        case "writable":
            try OpenFile(creating: place, permissions: 0o600).write(precious.span, at: 0)
            #expect(unsafe chmod(place.string, 0o666) == 0)
        case "pipe": #expect(unsafe mkfifo(place.string, 0o600) == 0)
        default: try FileSystem.createFolders(place, permissions: 0o700)
        }
        let client = try world.client()
        #expect(try await client.store.status(of: one).state == .absent)
        _ = try await client.fetch()
        try await client.expectOne()
        #expect(try DurableFile.read(victim, limit: 100) == precious)
    }

    @Test func aFolderInPlaceOfTheMark() async throws {
        let mark = layout.ephemeral.appending("\(try await digest()).wanted")
        try FileSystem.createFolders(mark, permissions: 0o700)
        #expect(try await world.downloader().run(.install).firstError == nil)
    }

    /// A downloader died while it saved metadata; an app that starts later removes what it was writing.
    @Test func abandonedMetadataScratchIsRemoved() async throws {
        _ = try await world.downloader().run(.install)
        let trust = layout.trust(of: .downloader)
        let scratch = [trust, trust.appending("root_history")].map { $0.appending(".assetvault-1-2.tmp") }
        for path in scratch { _ = try OpenFile(creating: path, permissions: 0o600) }
        _ = try await world.client().fetch()
        for path in scratch { #expect(try !FileSystem.exists(path), "\(path)") }
    }

    /// A downloader whose time is up while the host does not send the pack.
    private func downloadInVain() async throws {
        world.answer { $0.path.hasSuffix("one.avpack") ? .steps([.hang]) : .file }
        let report = try await withEnoughTime { time in
            let report = try await world.downloader().run(.install, within: .init(time: time))
            return world.server.packs.isEmpty ? nil : report
        }
        #expect(report.firstError?.category == .busy)
    }

    /// An app died while it waited for a download that a newer version made useless: its mark goes with the download, or by
    /// itself where a downloader still has the superseded version in its record.
    @Test(arguments: [true, false]) func theMarkOfASupersededDownload(isPartThere: Bool) async throws {
        try await downloadInVain()
        let mark = layout.ephemeral.appending("\(try await digest()).wanted")
        _ = try FileLock.tryAcquire(mark, .exclusive, permissions: 0o600)
        if !isPartThere {
            try FileSystem.removeFile(layout.ephemeral.appending("\(try await digest()).part"))
        }
        world.answer { _ in .file }
        try await world.publish(["noise": World.extras])
        _ = try await world.client().fetch()
        #expect(try Folder(opening: layout.ephemeral).names() == [])
    }

    /// Only an app of the same user takes a download over.
    @Test func aMarkOfAnotherUser() async throws {
        let mark = layout.ephemeral.appending("\(try await digest()).wanted")
        try FileSystem.createFolders(layout.ephemeral, permissions: 0o700)
        let lock = try FileLock.tryAcquire(mark, .exclusive, permissions: 0o600)
        #expect(unsafe chmod(mark.string, 0o666) == 0)
        #expect(try await world.downloader().run(.install).firstError == nil)
        #expect(try await world.client().store.status(of: one).state == .toBeTransferred)
        _ = consume lock
    }

    @Test func unknownFilesAreKept() async throws {
        try FileSystem.createFolders(layout.ephemeral, permissions: 0o700)
        let names = ["film.part", "other.avpack", "\(String(repeating: "g", count: 64)).part"]
        for name in names { _ = try OpenFile(creating: layout.ephemeral.appending(name), permissions: 0o600) }
        _ = try await world.client().fetch()
        for name in names { #expect(try FileSystem.exists(layout.ephemeral.appending(name)), "\(name)") }
    }

    /// The record contains the manifest, too.
    @Test(arguments: PackForm.allCases, [true, false])
    func theManifestBesideAVersion(form: PackForm, isThere: Bool) async throws {
        let client = try world.client { $0.form = form }
        _ = try await client.fetch()
        let home = layout.home(of: one)
        let path = home.appending(try #require(try names(in: home).first { $0.hasSuffix(".json") }))
        let before = try DurableFile.read(path, limit: 1 << 20)
        if isThere { try flipByte(of: path, at: 40) } else { try FileSystem.removeFile(path) }
        #expect(try await client.store.status(of: one).state == .loaded)
        let asked = world.server.packs.count
        _ = try await client.fetch()
        try await client.expectOne()
        #expect(world.server.packs.count == asked)
        #expect(try DurableFile.read(path, limit: 1 << 20) == before)
    }

    /// A recorded version that is missing is fetched again.
    @Test(arguments: PackForm.allCases, [false, true]) func aLostVersion(form: PackForm, byID: Bool)
        async throws
    {
        let client = try world.client { $0.form = form }
        _ = try await client.fetch()
        for name in try names(in: layout.home(of: one)) where name.hasPrefix("@") {
            try FileSystem.removeTree(layout.home(of: one).appending(name))
        }
        if byID { try await client.ensureLocalAvailability(of: one) } else { _ = try await client.fetch() }
        try await client.expectOne()
    }

    /// Damage is reported when the key comes; then only damaged bytes are fetched.
    @Test func aDamagedPreload() async throws {
        _ = try await world.downloader().run(.install)
        let waiting = layout.waiting(of: one).appending("@\(try await digest()).avpack")
        try flipByte(of: waiting, at: 300_000)
        let client = try world.client()
        #expect(await category { _ = try await client.unlock([one]) } == .corrupt)
        let before = try await world.server.packBytesAtRest
        _ = try await client.fetch()
        try await client.expectOne()
        #expect(try await world.server.packBytesAtRest - before < 600_000)
    }

    @Test func aPackThatWasNeverStored() async throws {
        let client = try world.client()
        #expect(await category { _ = try await client.unlock([one]) } == .missing)
        #expect(await category { _ = try await client.remove(one) } == .missing)
        _ = try await client.fetch()
        #expect(try await client.unlock([one]) == [])
    }
}

extension PackForm {
    static var allCases: [PackForm] { [.opened, .sealed] }
}
