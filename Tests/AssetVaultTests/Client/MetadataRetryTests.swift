import FaultServer
import Testing
import VaultAuthoring

@testable import AssetVault

/// A host that fails now and then is asked for metadata again.
@Suite(.timeLimit(.minutes(5))) struct MetadataRetryTests {
    let world: World

    init() async throws { world = try await World.withPacks() }

    private func client(of server: FaultServer) throws -> VaultClient {
        return try world.client { $0.site = try SiteLocation(server.url) }
    }

    @Test func eachFileIsAskedForAgain() async throws {
        let server = try FaultServer(world.place.vault.site.string) {
            $0.earlier == 0 ? .status(503) : .file
        }
        try await client(of: server).refresh()
        let paths = server.exchanges.map(\.request.path)
        #expect(Set(paths).allSatisfy { path in paths.count { $0 == path } == 2 }, "\(paths)")
    }

    /// An app that starts is not held for long.
    @Test func notForEver() async throws {
        let server = try FaultServer(world.place.vault.site.string) { _ in .status(500) }
        let client = try client(of: server)
        #expect(await category { try await client.refresh() } == .unavailable)
        #expect(server.exchanges.count == 3)
    }
}
