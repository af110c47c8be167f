import AssetVaultFoundation
import FaultServer
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

@testable import AssetVault
@testable import SealedPack

/// A pack is withdrawn while its new version is complete and waits for the others of its set: that version never becomes live.
@Suite(.timeLimit(.minutes(5))) struct WithdrawnReadyTests {
    private let world: World
    private let client: VaultClient
    private let stays = PackID(constant: "stays")
    private let old = PackID(constant: "old")
    private let new = PackID(constant: "new")

    /// Version 2 of all packs is ready, but of `late`; of `new` no version was loaded. Then `old`, `new` and `late` are withdrawn.
    init() async throws {
        world = try await World()
        client = try world.client()
        let ids = ["stays", "old", "late"]
        for id in ids { try await world.publish(["file": [1]], as: id) }
        try await world.tag(Dictionary(uniqueKeysWithValues: ids.map { ($0, ["together"]) }))
        _ = try await client.fetch(.all)
        for id in ids + ["new"] { try await world.publish(["file": [2]], as: id) }
        try await world.tag(["new": ["together"]])
        world.answer { $0.path.hasSuffix(".late.avpack") ? .status(404) : .file }
        let report = try await client.update(
            .all, priority: nil, within: nil, reportingTo: LoadingTracker())
        #expect(report.awaitingSet.map(\.description).sorted() == ["new", "old", "stays"])
        world.answer { _ in .file }
        for id in [old, new, PackID(constant: "late")] { try await world.withdraw(id) }
    }

    private func versions(of id: PackID) throws -> [VersionName] {
        try names(in: world.layout.home(of: id)).compactMap { VersionName($0) }
    }

    private func expectContent(at location: SourceLocation = #_sourceLocation) async throws {
        let store = world.place.store()
        let path = try EntryPath("file")
        #expect(try await store.contents(of: path, in: stays) == [2], sourceLocation: location)
        #expect(try await store.contents(of: path, in: old) == [1], sourceLocation: location)
        #expect(
            await category { _ = try await store.contents(of: path, in: new) } == .missing,
            sourceLocation: location)
    }

    /// The metadata that say so are here; the others of the set become live.
    @Test func unlock() async throws {
        try await client.refresh()
        #expect(try await client.unlock() == [stays])
        try await expectContent()
        #expect(await category { try await client.unlock([new]) } == .missing)
        try await expectContent()
    }

    /// The next fetch removes it, whatever it asks for.
    @Test(arguments: [PackSelection.automatic, .only([PackID(constant: "stays")])])
    func aFetch(selection: PackSelection) async throws {
        _ = try await client.fetch(selection)
        try await expectContent()
        #expect(try versions(of: old).map(\.version) == [1])
        #expect(try versions(of: new).isEmpty)
        for id in [old, new] { #expect(try await client.store.status(of: id).readyVersion == nil) }
        #expect(try await client.unlock() == [])
        try await expectContent()
    }
}
