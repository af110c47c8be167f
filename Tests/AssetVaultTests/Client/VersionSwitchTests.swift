import AssetVaultFoundation
import FaultServer
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

@testable import AssetVault
@testable import SealedPack

/// A switch of several packs whose links `current` can't all be changed.
@Suite(.timeLimit(.minutes(5))) struct VersionSwitchTests {
    private let world: World
    private let client: VaultClient
    private let stuck = PackID(constant: "stuck")
    private let free = PackID(constant: "free")

    /// The link of `stuck` is a folder. Version 2 of both packs became live at once, as part of a set with a third pack.
    init() async throws {
        world = try await World()
        client = try world.client()
        let ids = ["stuck", "free", "late"]
        for id in ids { try await world.publish(["file": [1]], as: id) }
        try await world.tag(Dictionary(uniqueKeysWithValues: ids.map { ($0, ["together"]) }))
        _ = try await client.fetch(.all)
        for id in ids { try await world.publish(["file": [2]], as: id) }
        world.answer { $0.path.hasSuffix(".late.avpack") ? .status(404) : .file }
        _ = try await update()

        let link = world.layout.current(of: stuck)
        try FileSystem.removeFile(link)
        try FileSystem.createFolders(link.appending("folder"), permissions: 0o755)
        let store = StoreAccess(layout: world.layout, role: .app)
        let installer = PackInstaller(store: store, space: DiskSpace(store: store), sets: PackSets())
        let ready = try [stuck, free].map {
            try #require(try store.records.record(of: $0).ready?.version.pack)
        }
        #expect(try await installer.activateTogether(ready))
    }

    private func update(_ selection: PackSelection = .all) async throws -> FetchReport {
        try await world.client().update(
            selection, priority: nil, within: nil, reportingTo: LoadingTracker())
    }

    private var left: [String] {
        get throws {
            let path = world.layout.versionSwitch
            guard try FileSystem.exists(path) else { return [] }
            let bytes = try DurableFile.read(path, limit: 1 << 20)
            return try JSONValue(parsing: bytes.span, place: path.string).asObject(at: path.string).map(\.key)
        }
    }

    private func expect(
        _ version: UInt8, of id: PackID, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let bytes = try await world.place.store().contents(of: EntryPath("file"), in: id)
        #expect(bytes == [version], sourceLocation: location)
    }

    /// Both versions are live; only what can't be changed stays in the file, so that later updates of the other pack are seen.
    @Test func oneLinkThatCannotBeChanged() async throws {
        try await expect(2, of: stuck)
        try await expect(2, of: free)
        #expect(try left == ["stuck"])
        try await world.publish(["file": [3]], as: "free")
        world.answer { _ in .file }
        _ = try await update()
        try await expect(3, of: free)
        try await expect(2, of: stuck)

        try FileSystem.removeTree(world.layout.current(of: stuck))
        _ = try await update()
        #expect(try left == [])
        try await expect(2, of: stuck)
    }

    enum Decision: CaseIterable { case update, removal }

    /// A pack that is decided on by itself is no longer named there.
    @Test(arguments: Decision.allCases) func aLaterDecision(_ decision: Decision) async throws {
        switch decision {
        case .update:
            try await world.publish(["file": [3]], as: "stuck")
            try await world.tag(["stuck": ["alone"]])
            _ = try await update(.only([stuck]))
        case .removal: #expect(await category { try await client.remove(stuck) } != nil)
        }
        #expect(try left == [])
    }
}
