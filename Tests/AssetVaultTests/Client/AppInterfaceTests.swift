import AssetVaultFoundation
import FaultServer
import Foundation
import Testing
import VaultAuthoring
import VaultFileSystem

/// The conveniences for app developers.
@Suite(.timeLimit(.minutes(5))) struct AppInterfaceTests {
    let world: World
    private let one = PackID.one
    private let extras = PackID.extras

    init() async throws { world = try await World.withPacks() }

    @Test func errorsHaveLocalizedDescriptions() async throws {
        let client = try world.client()
        let path = EntryPath(constant: "noise")
        let error = try #require(await thrown { _ = try await client.data(of: path, in: one) })
        let shown: any Error = error
        // Place and problem; without a text of its own Foundation would still show the reason.
        #expect(shown.localizedDescription == "\(error.place): the pack 'levels/one' is not loaded")
        #expect((shown as? any LocalizedError)?.recoverySuggestion?.contains("fetch") == true)
    }

    @Test func configuredWithFoundationTypes() async throws {
        let root = try DurableFile.read(world.place.vault.trustedRoot, limit: 1 << 20)
        let store = URL(filePath: world.layout.permanent.removingLastComponent().string)
        let client = try VaultClient(
            VaultConfiguration(
                site: try #require(URL(string: world.server.url)), store: store, trustedRoot: Data(root),
                keys: world.place.keys))
        _ = try await client.fetch()
        #expect(try await client.data(of: EntryPath(constant: "noise"), in: one) == Data(World.one))
        #expect(try client.store.path(of: one) == VaultStore(world.layout).path(of: one))
        #expect(throws: VaultError.self) { _ = try SiteLocation(#require(URL(string: "ftp://localhost/x"))) }
    }

    @Test func progressAsAFraction() throws {
        var sum = LoadingProgress()
        // What is loaded already is no installation.
        #expect(sum.note(.finished(extras, .loaded)).fraction == 0)
        sum.note(.planned(one, .essential, total: 300))
        sum.note(.planned(extras, .prefetch, total: 100))
        sum.note(.progress(one, written: 100, bytes: 100, total: 300))
        let bar = Progress(totalUnitCount: 0)
        bar.show(sum)
        #expect(bar.fractionCompleted == 0.25 && bar.totalUnitCount == 400)
        sum.note(.progress(extras, written: 20, bytes: 20, total: 100))
        sum.note(.failed(extras, .cancelled("extras")))
        sum.note(.finished(one, .loaded))
        bar.show(sum)
        #expect(bar.fractionCompleted == 0.8 && bar.totalUnitCount == 400)
        #expect(sum.note(.failed(one, .cancelled("one"))).total == 400)
        // Another attempt goes on where the first one stopped.
        sum.note(.began(extras))
        sum.note(.progress(extras, written: 80, bytes: 100, total: 100))
        bar.show(sum)
        #expect(bar.isFinished && bar.totalUnitCount == 400)
    }

    @Test func selectedByTags() async throws {
        try await world.tag(["extras": ["campaign", "large"]])
        let client = try world.client()
        #expect(try await client.pack(withID: extras).tags == ["campaign", "large"])
        for tags in [["none"], ["none", "campaign"]] {
            #expect(await category { _ = try await client.fetch(.tagged(Set(tags))) } == .unknownTag)
            #expect(await category { _ = try await client.costs(of: .tagged(Set(tags))) } == .unknownTag)
        }
        #expect(try await client.store.status(of: extras).state == .absent)
        _ = try await client.fetch(.tagged(["campaign"]))
        #expect(try await client.store.status(of: extras).state == .loaded)
        #expect(try await client.store.status(of: one).state == .absent)
    }

    @Test(arguments: PackForm.allCases) func entriesOfAPack(form: PackForm) async throws {
        try await world.publish(["a/b": [1], "a-b": [1, 2], "z": []], as: "small")
        let client = try world.client { $0.form = form }
        let small = PackID(constant: "small")
        _ = try await client.fetch(.only([small]))
        let entries = try await client.store.entries(in: small)
        #expect(entries.map(\.path.string) == ["a-b", "a/b", "z"] && entries.map(\.size) == [2, 1, 0])
        #expect(await category { _ = try await client.store.entries(in: one) } == .missing)
    }

    /// Also where the store is named by a relative path: the working directory may be another one later.
    @Test func urlsAreAbsolute() async throws {
        _ = try await world.client().fetch()
        let root = world.layout.permanent.removingLastComponent()
        let here = FilePath(FileManager.default.currentDirectoryPath)
        var relative = FilePath(String(repeating: "../", count: here.components.count))
        relative.append(root.components)
        try #require(relative.isRelative)
        let store = VaultStore(StoreLayout(root: relative))
        let url = try await store.url(for: EntryPath(constant: "noise"), in: one)
        #expect(url.baseURL == nil && url.path.hasPrefix("/"))
        #expect(try Data(contentsOf: url) == Data(World.one))
    }

    @Test func updateSequencesEndIndependently() async throws {
        let client = try world.client()
        let (ended, other) = (client.statusUpdates, client.statusUpdates(for: one))
        ended.end()
        _ = try await client.fetch()
        for await _ in ended { Issue.record("it has ended") }
        client.endStatusUpdates()
        var count = 0
        for await _ in other { count += 1 }
        #expect(count > 0)
    }
}
